package lectus.derived.rows;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.derived.FeedDefinition;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.Maintenance;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** What jobs fill, each with two definitions that have different rows of the same documents. */
enum Kept {
  INDEX {
    @Override
    void define(TestDatabase db, int variant) {
      String field = variant % 2 == 0 ? "a" : "b";
      String json =
          "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\""
              + field
              + "\":\"asc\"},\"partial_filter_selector\":{}},\"reduce\":\"_count\",\"options\":{"
              + "\"def\":{\"fields\":[\""
              + field
              + "\"]}}}}}";
      db.write(edit(DESIGN, described(db).orElse(null), json));
    }

    @Override
    void remove(TestDatabase db) {
      described(db).ifPresent(leaf -> db.write(deletion(DESIGN, leaf)));
    }

    private Optional<RevisionId> described(TestDatabase db) {
      List<EditBranch> branches = db.branches(DESIGN);
      return branches.stream().limit(1).filter(it -> !it.deleted()).map(EditBranch::leaf).findAny();
    }

    @Override
    boolean isReadable(DatabaseHandle db) {
      return db.indexes().areReadable();
    }
  },

  FEED {
    @Override
    void define(TestDatabase db, int variant) {
      remove(db);
      byte[] selector = TestDatabase.utf8("{\"a\":{\"$gt\":2}}");
      feeds(db)
          .put(
              db.name,
              variant % 2 == 0
                  ? FeedDefinition.ofChannels("f", "ch")
                  : FeedDefinition.ofSelector("f", (JsonObject) JsonValue.parse(selector)));
    }

    @Override
    void remove(TestDatabase db) {
      if (!db.catalogue.open(db.name).feeds().isEmpty()) {
        feeds(db).delete(db.name, "f");
      }
    }

    private FeedCatalogue feeds(TestDatabase db) {
      return new FeedCatalogue(
          db.catalogue, db.transactions, new FillingJobs(db.store.rootPrefix()));
    }

    @Override
    boolean isReadable(DatabaseHandle db) {
      return db.feeds().areReadable();
    }
  };

  private static final String DESIGN = "_design/i";

  /** Defines it anew, whether it is there or not. */
  abstract void define(TestDatabase db, int variant);

  abstract void remove(TestDatabase db);

  abstract boolean isReadable(DatabaseHandle db);

  boolean isReadable(TestDatabase db) {
    return isReadable(db.catalogue.open(db.name));
  }

  JobWorker worker(TestDatabase db, int mostDocuments) {
    return new JobWorker(
        db.store,
        db.catalogue,
        Maintenance::rows,
        () -> false,
        new JobList(db.store, System::nanoTime),
        mostDocuments);
  }

  /** Returns a body that has its place in what is kept, or none. */
  static String body(int n) {
    return n % 5 == 4
        ? "{}"
        : "{\"a\":"
            + n % 7
            + ",\"b\":"
            + n % 3
            + ",\"ch\":[\"c"
            + n % 3
            + "\",\"d"
            + n % 2
            + "\"]}";
  }

  /** Writes the documents {@code d} and a number. */
  static void write(TestDatabase db, int from, int until) {
    List<Edit> edits = new ArrayList<>();
    for (int i = from; i < until; i++) {
      edits.add(edit("d" + i, null, body(i)));
    }
    db.write(edits);
  }
}
