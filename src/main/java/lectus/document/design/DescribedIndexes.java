package lectus.document.design;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import lectus.database.DatabaseHandle;
import lectus.document.body.DocumentsSubspace;
import lectus.index.DesignIndexes;
import lectus.index.IndexDefinition;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.LeafList;
import lectus.json.LeafType;
import lectus.json.LeafView;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.tuple.TupleWriter;

/** The indexes that a design document describes. */
public final class DescribedIndexes {
  private static final LeafView.Step LANGUAGE = LeafView.Step.of("language");
  private static final byte[] LANGUAGE_PATH = new TupleWriter(16).string("language").toBytes();
  private static final byte[] QUERY = new TupleWriter(16).string("query").toBytes();

  private DescribedIndexes() {}

  /**
   * @param partitioned whether its database is partitioned
   */
  public static List<IndexDefinition> in(String id, ExplodedBody body, boolean partitioned) {
    if (!mayDescribe(LeafList.of(body).root())) {
      return List.of();
    }
    JsonBuffer json = new JsonBuffer(256).octet('{');
    JsonAssembler members = new JsonAssembler(json, false);
    body.leaves().forEach(leaf -> members.leaf(leaf.path(), 0, leaf.value()));
    return parsed(id, json, members, partitioned);
  }

  /** As above, of a live revision that is stored. */
  public static List<IndexDefinition> stored(
      ReadTransaction tx, DatabaseHandle db, String id, RevisionId revision) {
    byte[] head = new DocumentsSubspace(db).revision(id, false, revision);
    byte[] language = Awaiting.await(tx.snapshot().get(ByteArrayUtil.join(head, LANGUAGE_PATH)));
    if (!Arrays.equals(language, QUERY)) {
      return List.of();
    }
    JsonBuffer json = new JsonBuffer(256).octet('{');
    JsonAssembler members = new JsonAssembler(json, false);
    for (KeyValue row :
        Awaiting.await(tx.snapshot().getRange(head, DocumentsSubspace.endOf(head)).asList())) {
      if (row.getKey().length > head.length) {
        members.leaf(row.getKey(), head.length, row.getValue());
      }
    }
    return parsed(id, json, members, db.configuration().partitioned());
  }

  private static List<IndexDefinition> parsed(
      String id, JsonBuffer json, JsonAssembler members, boolean partitioned) {
    members.finish();
    String text = json.octet('}').toString();
    JsonObject document = (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
    return DesignIndexes.in(id, document, partitioned);
  }

  private static boolean mayDescribe(LeafView document) {
    LeafView language = document.child(LANGUAGE);
    return language.type() == LeafType.STRING && language.string().equals("query");
  }
}
