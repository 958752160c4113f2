package lectus.changes.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedRights;
import lectus.changes.page.NewestFirst.Before;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.testing.TestLayout;
import lectus.document.edit.Edit;
import lectus.document.testing.Answers;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** A database on a store for tests of feeds. */
public final class FeedDatabase {
  static final long CREATED_AT_SECONDS = 1_795_253_100;

  public final DatabaseName name = DatabaseName.of("db");
  public final TransactionRunner transactions;
  public final Catalogue catalogue;
  public final ChangesReader changes;
  private final DocumentWriter writer;

  public FeedDatabase(Store store, int shards) {
    transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    catalogue =
        new Catalogue(
            store, transactions, InstantSource.fixed(Instant.ofEpochSecond(CREATED_AT_SECONDS)));
    catalogue.create(name, TestLayout.options(false, shards));
    changes = new ChangesReader(catalogue, transactions, FeedRights.DEFAULT);
    writer = new DocumentWriter(store, catalogue);
  }

  /** Writes a child of {@code base}, or a new document if it is null. */
  public RevisionId put(String id, RevisionId base, String json) {
    return write(edit(id, base, json));
  }

  /** Writes a revision like a replicator. */
  public void replicate(String id, String rev, String json) {
    write(TestDatabase.replicated(id, json, rev));
  }

  public void putAll(String id, int count) {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      edits.add(edit(id + i, null, "{\"v\":" + i + "}"));
    }
    writeAll(edits);
  }

  /** Returns a child of {@code base}, or a new document if it is null. */
  public static Edit edit(String id, RevisionId base, String json) {
    return TestDatabase.edit(id, base, json);
  }

  public WriteResult writeAll(List<Edit> edits) {
    WriteResult result = writer.write(name, edits);
    assertThat(result.outcomes()).noneMatch(EditOutcome.Failed.class::isInstance);
    return result;
  }

  private RevisionId write(Edit edit) {
    EditOutcome outcome = writer.write(name, List.of(edit)).outcomes().get(0);
    assertThat(outcome).isInstanceOf(EditOutcome.Written.class);
    return ((EditOutcome.Written) outcome).revision();
  }

  public String normal(FeedOptions options, String since, long limit, boolean descending) {
    return normal(changes, options, since, limit, descending);
  }

  public String normal(
      ChangesReader reader, FeedOptions options, String since, long limit, boolean descending) {
    return Answers.whole(
        descending
            ? reader.answerDownFrom(name, options, Before.end(), limit)
            : reader.answer(name, options, FeedPosition.since(since), limit));
  }

  public static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
