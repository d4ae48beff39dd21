// Stands for packages that Azurite loads and that are not called here: what sends its telemetry,
// and its other databases. With what these want they are two thirds of its files.
module.exports = {};
