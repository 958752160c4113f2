package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import lectus.database.DatabaseHandle;
import lectus.derived.DesignIndexes;
import lectus.derived.IndexDefinition;
import lectus.document.DocumentsSubspace;
import lectus.document.StoredBody;
import lectus.json.ChosenPaths;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.json.LeafView.LeafType;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/** The indexes that a design document describes. */
public final class DescribedIndexes {
  private static final LeafView.Step LANGUAGE = LeafView.Step.of("language");
  private static final ChosenPaths ITS_LANGUAGE =
      ChosenPaths.ofFields(List.of(FieldPath.parse("language")));

  private static final String OF_QUERIES = "\"language\":\"query\"";

  private DescribedIndexes() {}

  /**
   * @param partitioned whether its database is partitioned
   */
  public static List<IndexDefinition> in(String id, ExplodedBody body, boolean partitioned) {
    if (!mayDescribe(LeafList.of(body, ITS_LANGUAGE).root())) {
      return List.of();
    }
    JsonBuffer json = new JsonBuffer(256).octet('{');
    body.appendTo(json);
    return parsed(id, json, partitioned);
  }

  /** As above, of a live revision that is stored. */
  public static List<IndexDefinition> stored(
      ReadTransaction tx, DatabaseHandle db, String id, RevisionId revision) {
    byte[] head = new DocumentsSubspace(db).revision(id, false, revision);
    JsonBuffer language = new JsonBuffer(64);
    Awaiting.await(StoredBody.read(tx.snapshot(), head, ITS_LANGUAGE))
        .appendTo(new JsonAssembler(language, false));
    if (!language.toString().equals(OF_QUERIES)) {
      return List.of();
    }
    JsonBuffer json = new JsonBuffer(256).octet('{');
    Awaiting.await(StoredBody.read(tx.snapshot(), head)).appendTo(new JsonAssembler(json, false));
    return parsed(id, json, db.configuration().partitioned());
  }

  private static List<IndexDefinition> parsed(String id, JsonBuffer json, boolean partitioned) {
    return DesignIndexes.in(id, json.octet('}').toString(), partitioned);
  }

  private static boolean mayDescribe(LeafView document) {
    LeafView language = document.child(LANGUAGE);
    return language.type() == LeafType.STRING && language.string().equals("query");
  }
}
