// PouchDB Server with its databases in memory. The first line of its output is its port.
import express from "express";
import expressPouch from "express-pouchdb";
import PouchDB from "pouchdb-core";
import http from "pouchdb-adapter-http";
import mapReduce from "pouchdb-mapreduce";
import memory from "pouchdb-adapter-memory";
import replication from "pouchdb-replication";

PouchDB.plugin(memory).plugin(http).plugin(mapReduce).plugin(replication);
const pouch = expressPouch(PouchDB.defaults({ adapter: "memory" }), {
  mode: "minimumForPouchDB",
  inMemoryConfig: true,
  logPath: process.argv[2],
});
const listening = express()
  .use("/", pouch)
  .listen(0, "127.0.0.1", () => console.log(listening.address().port));
