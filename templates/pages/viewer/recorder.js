"use strict";

/* A motion as a file: a film (WebM, as the browser records its canvas), or its pictures (PNG, in a ZIP archive). */
async function record(player, choice) {
  const kind = choice.value, { times } = player.data, name = document.title.replace(/[^\w-]+/g, "_");
  choice.value = "";
  if (player.playing) player.toggle();
  if (kind === "webm") save(await film(player), `${name}.webm`);
  if (kind === "png") save(zip(await pictures(player)), `${name}_pictures.zip`);
  if (kind) player.seek(times[0]);
}

async function film(player) {
  const { times } = player.data, { canvas } = player.viewer, parts = [], repeats = player.find("again");
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: "video/webm", videoBitsPerSecond: 8e6 });
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  const [began, ended] = ["start", "stop"].map((event) => new Promise((done) => recorder.addEventListener(event, done)));
  const again = repeats && repeats.checked;
  if (repeats) repeats.checked = false;
  player.seek(times[0]);
  recorder.start();
  await began;
  await stand(player, 10); // the encoder leaves out what is drawn before it is ready
  player.toggle();
  await new Promise((done) => { const look = () => (player.playing ? setTimeout(look, 50) : done()); look(); });
  await stand(player, 10);
  recorder.stop();
  await ended;
  if (repeats) repeats.checked = again;
  return new Blob(parts, { type: "video/webm" });
}

/* The same picture again so many times. */
async function stand(player, pictures) {
  for (let k = 0; k < pictures; k++) {
    player.show();
    await new Promise((done) => setTimeout(done, 33));
  }
}

/* 25 pictures for every second that the motion takes at the chosen speed, at most 750. */
async function pictures(player) {
  const { times } = player.data, span = times[times.length - 1] - times[0], found = [];
  const count = Math.max(1, Math.min(750, Math.round(25 * span / Number(player.find("speed").value))));
  player.viewer.still = true;
  for (let k = 0; k <= count; k++) {
    player.seek(times[0] + span * k / count);
    const blob = await new Promise((done) => player.viewer.canvas.toBlob(done, "image/png"));
    found.push({ name: `picture_${String(k).padStart(4, "0")}.png`, bytes: new Uint8Array(await blob.arrayBuffer()) });
  }
  player.viewer.still = false;
  return found;
}

/* A ZIP archive that stores its files as they are. */
function zip(files) {
  const parts = [], directory = [], text = new TextEncoder();
  let offset = 0, length = 0;
  const numbers = (...pairs) => {
    const view = new DataView(new ArrayBuffer(pairs.reduce((sum, [size]) => sum + size, 0)));
    let at = 0;
    for (const [size, value] of pairs) {
      if (size === 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += size;
    }
    return new Uint8Array(view.buffer);
  };
  for (const { name, bytes } of files) {
    const title = text.encode(name), sum = crc(bytes);
    const common = [[2, 20], [2, 0], [2, 0], [2, 0], [2, 33], [4, sum], [4, bytes.length], [4, bytes.length], [2, title.length], [2, 0]];
    const head = numbers([4, 0x04034b50], ...common);
    const entry = numbers([4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]);
    parts.push(head, title, bytes);
    directory.push(entry, title);
    offset += head.length + title.length + bytes.length;
    length += entry.length + title.length;
  }
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, length], [4, offset], [2, 0]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

function crc(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ -1) >>> 0;
}

function save(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
