package lectus.audit;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.UploadsSubspace;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.changes.log.UpdatesCompaction;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.Catalogue.DatabaseSettings;
import lectus.database.DatabaseCache;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.NameRange;
import lectus.database.RelocationsSubspace;
import lectus.database.RelocationsSubspace.Arrival;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.OtherPlace;
import lectus.database.RelocationsSubspace.Phase;
import lectus.database.RelocationsSubspace.Standing;
import lectus.database.Whereabouts.Secret;
import lectus.database.testing.BeforeShards;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.json.MalformedTupleException;
import lectus.json.TupleReader;
import lectus.json.TupleType;
import lectus.json.TupleWriter;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.Versionstamp;

/** A store that has a row of each kind, and a row of each kind that a store has. */
final class EveryKindOfRow {
  /** More channels than a document may be in. */
  private static final int MANY = 101;

  private static final String HARD = "{\"s\":{\"$regex\":\"^(([a-z])+.)+[A-Z]([a-z])+$\"}}";

  /** The number of jobs that fill feeds. */
  private EveryKindOfRow() {}

  /**
   * @param database whose row it is; empty if it is the store's
   */
  record Row(String kind, byte[] key, byte[] value, String database) {}

  /** Writes what clients can write. */
  static void write(LectusServer server) {
    new StoreContent(server).write();
    put(server, "/all?partitioned=true&changes_shards=2", "");
    put(server, "/all/_purged_infos_limit", "500");
    put(server, "/all/_auto_purge", "{\"deleted_document_ttl\":\"30_day\"}");
    put(server, "/all/_security", "{\"admins\":{\"names\":[\"a\"],\"roles\":[]}}");
    put(server, "/all/_feeds/f", "{\"channels\":\"ch\"}");
    put(server, "/all/_feeds/hard", "{\"selector\":" + HARD + "}");
    post(
        server,
        "/all/_index",
        "{\"index\":{\"fields\":[\"v\"]},\"name\":\"i\",\"ddoc\":\"i\",\"partitioned\":false}");
    post(
        server,
        "/all/_index",
        "{\"index\":{\"fields\":[\"v\"],\"partial_filter_selector\":"
            + HARD
            + "},\"name\":\"hard\",\"ddoc\":\"hard\"}");
    for (String rev : List.of("1-a", "1-b")) {
      post(
          server,
          "/all/_bulk_docs",
          "{\"new_edits\":false,\"docs\":[{\"_id\":\"p:a\",\"_rev\":\""
              + rev
              + "\",\"v\":1,\"x\":{\"y\":2},\"ch\":\"one\"}]}");
    }
    String left = server.write("/all/p:left", "{\"v\":2,\"ch\":[\"one\",\"two\"]}");
    put(server, "/all/p:left", "{\"_rev\":\"" + left + "\",\"v\":3,\"ch\":[\"two\"]}");
    put(
        server,
        "/all/p:many",
        "{\"ch\":["
            + IntStream.range(0, MANY).mapToObj(i -> "\"c" + i + "\"").collect(joining(","))
            + "]}");
    put(server, "/all/_feeds/gone", "{\"channels\":\"ch\"}");
    server.delete("/all/_feeds/gone").expect(200);
    String index = "{\"index\":{\"fields\":[\"z\"]},\"name\":\"gone\",\"ddoc\":\"gone\"}";
    post(server, "/all/_index", index);
    server.delete("/all/_index/gone/json/gone").expect(200);
    put(server, "/all/p:hard", "{\"v\":9,\"s\":\"" + "a".repeat(60_000) + "\"}");
    put(
        server,
        "/all/p:text",
        "{\"_attachments\":{\"note\":{\"content_type\":\"text/plain\",\"data\":\"aGVsbG8=\"},"
            + "\"other\":{\"content_type\":\"text/plain\",\"data\":\"d29ybGQ=\"}}}");
    put(server, "/all/p:long", "{\"s\":\"" + "0123456789".repeat(30_000) + "\"}");
    String bare =
        server.write(
            "/all/p:bare",
            "{\"_attachments\":{\"n\":{\"content_type\":\"text/plain\",\"data\":\"YmFyZQ==\"}}}");
    put(server, "/all/p:bare", "{\"_rev\":\"" + bare + "\"}");
    views(server);
    String purged = server.write("/all/p:purged", "{}");
    post(server, "/all/_purge", "{\"p:purged\":[\"" + purged + "\"]}");
    server.get("/all/_image?follower=chain").expect(200);
    put(server, "/all/_local/c", "{\"seq\":{\"a\":1}}");
    put(server, "/_node/_local/_config/chttpd/enable_cors", "\"false\"");
  }

  /** A view with a document that it refuses, before something is purged. */
  private static void views(LectusServer server) {
    put(
        server,
        "/all/_design/views",
        "{\"options\":{\"partitioned\":false},\"views\":{\"v\":{\"reduce\":\"_count\",\"map\":"
            + "\"function(doc){emit(doc._id, doc.s ? doc.s.repeat(4) : 1)}\"}}}");
    for (int i = 0; i < MANY; i++) {
      put(server, "/all/p:seen" + i, "{}");
    }
    server.get("/all/_design/views/_view/v").expect(200);
  }

  private static void put(LectusServer server, String target, String json) {
    Answer answer = server.put(target, json);
    assertThat(answer.status()).as(target + answer.body()).isBetween(200, 202);
  }

  private static void post(LectusServer server, String target, String json) {
    Answer answer = server.post(target, json);
    assertThat(answer.status()).as(target + answer.body()).isBetween(200, 202);
  }

  /** Adds the rows that servers have for a while only. */
  static void complete(TestDatabase db) {
    byte[] root = db.store.rootPrefix();
    UpdatesCompaction compaction = new UpdatesCompaction(db.store, db.transactions);
    while (compaction.step()) {
      continue;
    }
    compaction.giveBack();
    TestDatabase unsharded = TestDatabase.create(db.store, "unsharded");
    unsharded.put("a", "{}");
    BeforeShards.lay(unsharded.transactions, unsharded.catalogue.open(unsharded.name));
    DatabaseName kept = DatabaseName.of("kept");
    TestDatabase.create(db.store, kept.text()).put("a", "{}");
    new Catalogue(
            db.store,
            db.transactions,
            InstantSource.system(),
            new DatabaseCache(root, 1 << 20),
            () -> new DatabaseSettings(BodyLayout.INLINE, 60))
        .delete(kept);
    TestDatabase filled = TestDatabase.create(db.store, "filled");
    for (int i = 0; i < 1_100; i++) {
      filled.put("d" + i, "{\"ch\":\"x\"}");
    }
    new FeedCatalogue(filled.catalogue, filled.transactions, new FillingJobs(root))
        .put(filled.name, FeedDefinition.ofChannels("f", "ch"));
    DatabaseHandle handle = db.catalogue.open(DatabaseName.of("all"));
    byte[] prefix = handle.prefix();
    byte[] tasks = filled.catalogue.open(filled.name).prefix();
    long number = filled.catalogue.open(filled.name).feeds().all().get(0).number();
    db.transactions.run(
        tx -> {
          UploadId upload = UploadId.of(new byte[16]);
          new UploadsSubspace(prefix).put(tx, upload, 1);
          new ChunksSubspace(prefix).put(tx, upload, 0, new byte[] {1});
          put(tx, RootSubspace.TRANSACTION_IDS.key(root).bytes(new byte[16]), new byte[17], 1);
          tuple(
              tx,
              RootSubspace.LEASES.key(root).string("task"),
              it -> it.bytes(new byte[16]).integer(1));
          tuple(
              tx,
              RootSubspace.BUCKETS.key(root).integer(0).integer(1),
              it -> it.bytes(new byte[16]).integer(1));
          tuple(
              tx,
              RootSubspace.BUCKETS.key(root).integer(1).bytes(new byte[16]),
              it -> it.integer(1));
          tuple(tx, RootSubspace.ADMINS.key(root).string("ann"), it -> it.string("-pbkdf2-"));
          put(tx, RootSubspace.SECRETS.key(root).string("cookie"), new byte[33], 1);
          tuple(
              tx,
              RootSubspace.TIMES.key(root).integer(1).integer(7),
              it -> it.integer(1).integer(2));
          tuple(tx, RootSubspace.SETTINGS.key(root).string("a").string("b"), it -> it.string("c"));
          tuple(
              tx,
              RootSubspace.RESTORES.key(root).string("0123456789abcdef".repeat(2)),
              it -> it.string("copy").bytes(new byte[] {1, 2}).integer(3));
          RelocationsSubspace relocations = new RelocationsSubspace(root);
          relocations.put(tx, new Attempt("r", 1), Arrival.without(Standing.ABORTED));
          relocations.abort(tx, new Attempt("r", 2));
          relocations.reserve(
              tx,
              new DatabaseInstance(
                  DatabaseName.of("copy"), handle.instance(), prefix, Versionstamp.ZERO));
          relocations.put(
              tx,
              new Departure(
                  "r",
                  Phase.ENDED,
                  handle.name(),
                  handle.instance(),
                  new OtherPlace("http://h/", handle.name(), "", new Secret("")),
                  new Secret("s"),
                  1,
                  0,
                  false,
                  1,
                  "",
                  OptionalLong.empty()));
          tuple(
              tx,
              DatabaseSubspace.JOB_TASKS.key(tasks).integer(number).string("0"),
              it -> it.bool(false).bytes(new byte[0]).integer(0).integer(0).integer(0));
          tuple(
              tx,
              DatabaseSubspace.VIEWS.key(prefix).integer(3).integer(1).string("0"),
              it -> it.bool(false).bytes(new byte[16]).integer(0));
          tuple(
              tx,
              DatabaseSubspace.AUTO_PURGE.key(prefix).integer(1),
              it -> it.integer(0).versionstamp(new byte[12]));
          return null;
        });
  }

  private static void tuple(Transaction tx, TupleWriter key, Consumer<TupleWriter> value) {
    TupleWriter encoded = new TupleWriter(64).integer(1);
    value.accept(encoded);
    tx.set(key.toBytes(), encoded.toBytes());
  }

  private static void put(Transaction tx, TupleWriter key, byte[] value, int format) {
    value[0] = (byte) format;
    tx.set(key.toBytes(), value);
  }

  /** Returns a row of each kind. */
  static List<Row> rows(Store store) {
    TestDatabase db = TestDatabase.open(store, "unnamed");
    Map<String, Row> found = new LinkedHashMap<>();
    byte[] root = store.rootPrefix();
    collect(db, "", root, found);
    for (DatabaseName name : db.catalogue.names(NameRange.ALL).names()) {
      byte[] prefix =
          db.transactions
              .<DatabaseInstance>read(tx -> db.catalogue.life(tx, name).join().orElseThrow())
              .prefix();
      collect(db, name.text(), prefix, found);
    }
    return List.copyOf(found.values());
  }

  private static void collect(
      TestDatabase db, String database, byte[] prefix, Map<String, Row> found) {
    List<KeyValue> rows =
        db.transactions.read(tx -> tx.getRange(Range.startsWith(prefix)).asList().join());
    for (KeyValue row : rows) {
      boolean isOfStore = database.isEmpty();
      String kind =
          (isOfStore ? "root" : "prefix") + shape(row.getKey(), prefix.length, !isOfStore);
      found.putIfAbsent(kind, new Row(kind, row.getKey(), row.getValue(), database));
    }
  }

  /** Describes a key: its first two numbers, and the types of what follows, or a field's name. */
  private static String shape(byte[] key, int from, boolean hasFields) {
    StringBuilder shape = new StringBuilder();
    TupleReader reader = new TupleReader(key, from);
    boolean isField = false;
    try {
      for (int i = 0; reader.hasNext() && i < 6; i++) {
        shape.append(' ');
        if (reader.isInteger() && !reader.isBigInteger()) {
          long number = reader.integer();
          shape.append(i < 2 ? Long.toString(number) : "n");
          isField = hasFields && i == 0 && number == 0;
        } else if (reader.isString()) {
          String text = reader.string();
          shape.append(isField && i == 1 && text.matches("[a-z_]+") ? text : "s");
        } else {
          int type = reader.type();
          shape.append(type);
          switch (type) {
            case TupleType.BYTES -> reader.bytes();
            case TupleType.VERSIONSTAMP -> reader.versionstamp();
            case TupleType.FALSE, TupleType.TRUE -> reader.bool();
            default -> reader.rest();
          }
        }
      }
    } catch (MalformedTupleException other) {
      shape.append(" other");
    }
    return shape.toString();
  }

  /** Writes, as a client would, a little of everything that a store can hold. */
  private static final class StoreContent {
    private static final long SEED = 20_260_101;

    private final LectusServer server;
    private final Random random = new Random(SEED);

    public StoreContent(LectusServer server) {
      this.server = server;
    }

    public void write() {
      values();
      conflicts();
      shards();
      partitions();
      local();
      validated();
      lives();
    }

    private void put(String target, String json) {
      done(server.put(target, json));
    }

    private void post(String target, String json) {
      done(server.post(target, json));
    }

    private static Answer done(Answer answer) {
      if (answer.status() / 100 != 2) {
        throw new IllegalStateException(answer.toString());
      }
      return answer;
    }

    /** Every type of value, long strings, deep paths, deleted documents. */
    private void values() {
      put("/values", "");
      put(
          "/values/types",
          "{\"a\":[],\"b\":{},\"c\":[null,true,false,0,-1,1.5,1e300],\"d\":\"\\u0000\"}");
      put("/values/big", "{\"n\":[18446744073709551616,-9223372036854775809,4294967296]}");
      put("/values/deep", "{\"a\":" + "[{\"b\":".repeat(40) + "1" + "}]".repeat(40) + "}");
      put("/values/long", "{\"s\":\"" + "0123456789".repeat(30_000) + "\",\"t\":\"\u00fc\"}");
      put("/values/empty", "{}");
      put("/values/odd-%C3%BC", "{\"\u00e4\":\"\ud83d\ude00\"}");
      for (int i = 0; i < 20; i++) {
        put("/values/random-" + i, "{\"i\":" + i + ",\"x\":" + random.nextInt() + "}");
      }
      String rev = server.write("/values/gone", "{\"x\":1}");
      done(server.delete("/values/gone?rev=" + rev));
      rev = server.write("/values/tombstone", "{\"x\":1}");
      put("/values/tombstone", "{\"_rev\":\"" + rev + "\",\"_deleted\":true,\"why\":\"old\"}");
      put("/values/_revs_limit", "7");
      rev = server.write("/values/edited", "{\"n\":0}");
      for (int i = 1; i < 12; i++) {
        rev = server.write("/values/edited", "{\"_rev\":\"" + rev + "\",\"n\":" + i + "}");
      }
    }

    /** Branches as a replicator writes them, with hashes of all kinds. */
    private void conflicts() {
      put("/conflicts", "");
      post(
          "/conflicts/_bulk_docs",
          """
          {"new_edits":false,"docs":[
            {"_id":"a","_rev":"3-c","_revisions":{"start":3,"ids":["c","b","a"]},"v":1},
            {"_id":"a","_rev":"3-d","_revisions":{"start":3,"ids":["d","b","a"]},"v":2},
            {"_id":"a","_rev":"2-x","_revisions":{"start":2,"ids":["x","a"]},"_deleted":true},
            {"_id":"b","_rev":"1-00112233445566778899aabbccddeeff","v":1},
            {"_id":"b","_rev":"1-ffeeddccbbaa99887766554433221100","v":2},
            {"_id":"c","_rev":"9-abcdefghijklmnop","_revisions":{"start":9,"ids":["abcdefghijklmnop","z"]}},
            {"_id":"d","_rev":"2-e","_revisions":{"start":2,"ids":["e","0123456789abcdef0123456789abcdef"]},
             "_deleted":true},
            {"_id":"d","_rev":"2-f","_revisions":{"start":2,"ids":["f","0123456789abcdef0123456789abcdef"]},
             "_deleted":true,"left":1}
          ]}\
          """);
      put("/conflicts/_security", "{\"admins\":{\"names\":[\"ann\"],\"roles\":[]},\"note\":\"x\"}");
    }

    /** Three generations, each with documents that no later generation has touched. */
    private void shards() {
      put("/shards?changes_shards=4", "");
      for (int i = 0; i < 12; i++) {
        put("/shards/first-" + i, "{\"i\":" + i + "}");
      }
      put("/shards/_changes/_meta", "{\"shards\":2}");
      for (int i = 0; i < 6; i++) {
        put("/shards/second-" + i, "{\"i\":" + i + "}");
      }
      put("/shards/_changes/_meta", "{\"shards\":3}");
      put("/shards/third", "{}");
    }

    private void partitions() {
      put("/parts?partitioned=true", "");
      for (int i = 0; i < 9; i++) {
        put("/parts/p" + i % 3 + ":" + i, "{\"i\":" + i + "}");
      }
      put("/parts/_design/d", "{\"views\":{}}");
    }

    private void local() {
      put("/local%2Fdb", "");
      put("/local%2Fdb/_local/checkpoint", "{\"seq\":1}");
      String rev = server.get("/local%2Fdb/_local/checkpoint").member("_rev");
      put(
          "/local%2Fdb/_local/checkpoint",
          "{\"_rev\":\"" + rev + "\",\"seq\":2,\"history\":[{\"a\":[]}]}");
      put("/local%2Fdb/_local/long", "{\"s\":\"" + "ab".repeat(60_000) + "\"}");
    }

    private void validated() {
      put("/validated", "");
      put("/validated/before", "{\"x\":1}");
      put(
          "/validated/_design/rules",
          "{\"validate_doc_update\":\"function(doc){throw({forbidden:'no'})}\"}");
    }

    /** Names of deleted databases, and one database that was created again. */
    private void lives() {
      put("/former", "");
      put("/former/a", "{}");
      done(server.delete("/former"));
      put("/again", "");
      put("/again/a", "{}");
      done(server.delete("/again"));
      put("/again", "");
      put("/again/b", "{}");
    }
  }
}
