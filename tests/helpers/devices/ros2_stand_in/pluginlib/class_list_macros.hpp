// Stand-in for pluginlib: one function that makes the plugin.
#pragma once
#define PLUGINLIB_EXPORT_CLASS(Derived, Base) extern "C" Base* make_plugin() { return new Derived(); }
