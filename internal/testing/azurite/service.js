// Runs ahead of a service of Azurite, whose script is the first argument.
const fs = require("fs");
const net = require("net");

// The port, which the table service does not tell where it was left to the system.
let listens = false;
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  this.once("listening", () => {
    listens = true;
    console.log(`port=${this.address().port}.`);
  });
  return listen.apply(this, args);
};

// Standard input closes when the starter wants the end or has met its own. Before a service listens
// it has nothing to write, and does not hear SIGINT.
process.stdin.on("data", () => {}).on("error", () => {}).on("close", () => {
  if (!listens) process.exit(1);
  process.emit("SIGINT");
  setTimeout(() => process.exit(1), 10000).unref();
});
process.stdin.unref();

if (process.env.AZURITE_TEMP) {
  process.on("exit", () => fs.rmSync(process.env.AZURITE_TEMP, { recursive: true, force: true }));
}

// An entity is found by both of its keys at once. Azurite looks at all entities of the partition, for
// every read and three times for a write, which many rows make slow.
const { Collection } = require("module").createRequire(process.argv[1])("lokijs");
const findOne = Collection.prototype.findOne;
const key = (entity) => JSON.stringify([entity.PartitionKey, entity.RowKey]);
const found = new WeakMap();
Collection.prototype.findOne = function (query) {
  if (query.PartitionKey === undefined || query.RowKey === undefined) return findOne.call(this, query);
  let entities = found.get(this);
  if (!entities) {
    found.set(this, (entities = new Map(this.data.map((entity) => [key(entity), entity]))));
    this.on(["insert", "update"], (entity) => entities.set(key(entity), entity));
    this.on("delete", (entity) => entities.delete(key(entity)));
  }
  return entities.get(key(query)) ?? null;
};

require(process.argv[1]);
