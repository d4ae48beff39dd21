// Stands for packages that others load, or have beside them, and do not call here: what sends
// Azurite's telemetry and its other databases, the terminal and the web server of the inspector.
// With what these want they are a third of all files that npm would install.
module.exports = {};
