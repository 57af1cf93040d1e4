"""Reserved names: of C, C++ and their libraries, of build tools and systems, of the generated code itself.

Descriptions are checked against this list when they are loaded, and variables of the generated code avoid it.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor bool catch char16_t char32_t
    char8_t class co_await co_return co_yield compl concept const_cast consteval constexpr constinit contract_assert
    decltype delete dynamic_cast explicit export false fortran friend mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public reflexpr reinterpret_cast requires static_assert static_cast synchronized
    template this thread_local throw true try typeid typename typeof typeof_unqual using virtual wchar_t xor xor_eq
    """
)
"""Reserved words of C (up to C23) and of C++ (the headers are included from C++ as well)."""

LIBRARY_FUNCTIONS = _words(
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div drem erf erfc exp exp10 exp2 expm1
    fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb infnan isinf isnan j0 j1 jn ldexp lgamma
    llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10
    remainder remquo rint round scalb scalbln scalbn signbit significand signgam sin sincos sinh sqrt tan tanh
    tgamma trunc y0 y1 yn abs labs index rindex main memcpy memset printf
    """
)
"""Functions of the C library, most of all of math.h; a local variable of that name would hide them."""

MACROS = _words(
    """
    assert complex imaginary errno linux unix i386 near far huge interrupt pascal cdecl stdin stdout stderr
    math_errhandling offsetof I NULL NAN INFINITY HUGE EOF WEOF DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS X_TLOSS
    MAXFLOAT DECIMAL_DIG BUFSIZ TMP_MAX FILENAME_MAX FOPEN_MAX RAND_MAX CLOCKS_PER_SEC L_tmpnam L_ctermid L_cuserid P_tmpdir
    L_INCR L_SET L_XTND F_OK R_OK W_OK X_OK F_LOCK F_TEST F_TLOCK F_ULOCK CSIGNAL NSIG NGREG NZERO NFDBITS RETSIGTYPE
    WCONTINUED WEXITED WNOHANG WNOWAIT WSTOPPED WUNTRACED STDC_HEADERS DEFFILEMODE ACCESSPERMS ALLPERMS MAX_CANON MAX_INPUT
    BIG_ENDIAN LITTLE_ENDIAN PDP_ENDIAN BYTE_ORDER PIPE_BUF FD_SETSIZE MINSIGSTKSZ SIGSTKSZ NOWAIT_LOCK WAIT_LOCK
    ENABLE_IPV6 MVWDELCH_IS_EXPRESSION
    sa_handler sa_sigaction sched_priority sigev_notify_attributes sigev_notify_function st_atime st_ctime st_mtime
    E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT
    EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM
    EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN
    EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN
    ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE
    ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG
    ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY
    ENOTUNIQ ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG
    EREMOTE EREMOTEIO ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT
    ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL
    """
)
"""Macros of the C and POSIX libraries and of common compilers: no identifier at all may have such a name."""

MACRO_FAMILIES = re.compile(
    r"[A-Z][A-Z0-9_]*_(MAX|MIN|WIDTH|BIT|H)"
    r"|(ADJ|ALIGNOF|ATOMIC|BUS|CLD|CLOCK|CLONE|CLOSE|CO|CPU|DBL|EXIT|FE|FLT|FP|FPE|FUTURE|FVC|FVS|HAVE|HUGE|ILL|ITIMER|LC|LDBL|M"
    r"|MADV|MAJOR|MAP|MATH|MCL|METH|MFD|MLOCK|MOD|MREMAP|MS|NL|PKEY|POLL|POSIX|PR|PROT|PTHREAD|REG|RENAME|SA|SCHED|SEEK|SEGV|SI"
    r"|SIG|SIGEV|SIZEOF|SS|SSTATE|STA|STATX|SYS|SYSCALL|TIME|TIMER|TRAP|USE|UTIME|WINDOW|WITH)_[A-Z0-9_]+([fl]|f[0-9]+x?)?"
    r"|DOUBLE_IS_[A-Z0-9_]+|MAX_CO_[A-Z_]+|STD(IN|OUT|ERR)_FILENO|S_(I[A-Z]+|BLKSIZE)|SNANL?|SNANF[0-9X]*"
    r"|SIG(ABRT|ALRM|BUS|CHLD|CLD|CONT|FPE|HUP|ILL|INT|IOT?|KILL|PIPE|POLL|PROF|PWR|QUIT|RTMAX|RTMIN|SEGV|STKFLT|STOP|SYS|TERM|TRAP"
    r"|TSTP|TTIN|TTOU|URG|USR1|USR2|VTALRM|WINCH|XCPU|XFSZ)"
    r"|(PRI|SCN)[diouxX](LEAST|FAST)?(8|16|32|64|MAX|PTR)|si_[a-z_]+|P[yY][A-Z][A-Za-z0-9]*(_\w*)?|P[yY]_\w+"
)
"""Families of macros of the same headers and of Python.h, by their pattern."""

HEADERS = _words(
    """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
    stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
    aio alloca ar argp argz byteswap conio cpio cpuid crypt curses direct dirent dlfcn dos elf endian envz err error
    execinfo fcntl features fmtmsg fnmatch form fstab fts ftw gconv getopt glob grp gshadow iconv ifaddrs io langinfo
    lastlog libgen libintl link malloc mcheck memory menu mm_malloc mntent monetary mqueue ncurses netdb newlib nl_types
    nss obstack panel paths poll printf proc_service process pthread pty pwd python re_comp reent regex regexp resolv
    sched search semaphore sgtty shadow spawn stab stdfix stdio_ext strings syscall sysexits syslimits syslog tar term
    termcap termio termios thread_db tic ttyent ucontext ulimit unctrl unistd unwind utime utmp utmpx values varargs
    wait windows wordexp
    """
)
"""Headers of C, POSIX, glibc, newlib, Windows and Python: a robot of such a name would emit a header that hides them."""

TARGETS = _words(
    """
    all all_build clean depend edit_cache help install list_install_components package package_source preinstall
    rebuild_cache run_tests test tests uninstall zero_check
    c dl gcc gcc_s m pthread rt stdc util
    """
)
"""Targets that CMake and make have themselves, and libraries of the system: a robot is a target and a library."""

FILES = _words("example cmakelists readme user_controller user_plant aux con nul prn com0 lpt0 elastogen eg std eigen")
"""Files that stand beside the emitted ones, names of devices, prefixes of the extension module, namespaces of C++."""

FILE_ENDINGS = ("_t", "_ik", "_simulate", "_switch", "_loop", "_thread", "_trajectory", "_example")
"""Endings of types and of further emitted files: `arm_loop` would collide with the loop of `arm`."""

EMITTED = _words("q qd qdd dq ddq tau F t p out params parameters gravity payload live unused")
"""Arguments and fields of the generated functions."""

COORDINATE = re.compile(r"(q|qd|qdd|dq|ddq|tau)_?[0-9]+")
DEVICE = re.compile(r"(com|lpt)[0-9]")


def is_macro(name: str) -> bool:
    """Whether a header of the C library or of Python may define a macro of this name."""
    return name in MACROS or MACRO_FAMILIES.fullmatch(name) is not None


def is_word(name: str) -> bool:
    """Whether no identifier may have this name, in C or C++."""
    return name in KEYWORDS or is_macro(name)
