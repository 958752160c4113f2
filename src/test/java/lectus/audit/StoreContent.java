package lectus.audit;

import java.util.Random;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;

/** Writes, as a client would, a little of everything that a store can hold. */
final class StoreContent {
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
