package lectus.jobs;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.derived.FeedDefinition;
import lectus.derived.FeedRule;
import lectus.derived.StoredFeed;
import lectus.derived.StoredIndex;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.mango.index.FilledIndexes;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.storedfeed.FeedCatalogue;
import lectus.storedfeed.FilledFeeds;

/** What jobs fill, each with two definitions that have different rows of the same documents. */
enum Kept {
  INDEX(JobKind.INDEX, new FilledIndexes(), DatabaseSubspace.INDEX_ENTRIES) {
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
      return db.indexes().all().stream().allMatch(StoredIndex::isReadable);
    }
  },

  FEED(JobKind.FEED, new FilledFeeds(), DatabaseSubspace.FEED_ENTRIES) {
    @Override
    void define(TestDatabase db, int variant) {
      remove(db);
      FeedRule rule =
          variant % 2 == 0
              ? new FeedRule.Channels("ch")
              : new FeedRule.Selected(
                  (JsonObject) JsonValue.parse(TestDatabase.utf8("{\"a\":{\"$gt\":2}}")));
      feeds(db).put(db.name, new FeedDefinition("f", rule));
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
      return db.feeds().all().stream().allMatch(StoredFeed::isReadable);
    }
  };

  private static final String DESIGN = "_design/i";

  final JobKind kind;
  final DatabaseSubspace entries;
  private final FilledKind filled;

  Kept(JobKind kind, FilledKind filled, DatabaseSubspace entries) {
    this.kind = kind;
    this.filled = filled;
    this.entries = entries;
  }

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
        List.of(filled),
        () -> false,
        new JobLooks(System::nanoTime),
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
