package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.derived.FeedDefinition;
import lectus.derived.StoredFeed;
import lectus.derived.rows.Belonging.Standing;
import lectus.derived.rows.FeedEntriesSubspace.FeedEntry;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of stored feeds. */
final class GoldenFeedRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final ChangeEntry ENTRY =
      new ChangeEntry(null, "x", RevisionId.of("2-00112233445566778899aabbccddeeff"), true, 300);

  private static final ChangeEntry LIVE = new ChangeEntry(null, "x", ENTRY.winner(), false, 300);

  private final Store store = stores.fresh();
  private final TestDatabase test = TestDatabase.create(store);
  private final DatabaseHandle db = test.catalogue.open(test.name);
  private final StoredFeed selected = feed(1, "{\"selector\":{\"b\":{\"$gt\":1}}}", true);
  private final StoredFeed channels = feed(300, "{\"channels\":\"a.b\"}", false);

  private static StoredFeed feed(long number, String json, boolean isReadable) {
    JsonObject body = (JsonObject) JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
    return new StoredFeed(
        number, FeedDefinition.parse("n", body), isReadable, StoredFeed.Removal.NONE);
  }

  private WrittenRows written(DatabaseSubspace subspace, Consumer<Transaction> encoder) {
    return WrittenRows.of(store, subspace.range(db.prefix()), encoder);
  }

  @Test
  void a_refusal() {
    RefusedSubspace refused = new RefusedSubspace(db, channels);
    WrittenRows written =
        written(DatabaseSubspace.DERIVED_ROWS, tx -> refused.refusal("y", "too much").write(tx, 1));
    GoldenRows golden = GoldenRows.of("RefusedSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    assertThat(refused.decode(golden.row("refused")))
        .isEqualTo(new RefusedSubspace.Refused("y", "too much"));
  }

  @Test
  void entries() {
    FeedEntriesSubspace ofSelector = new FeedEntriesSubspace(db, selected);
    FeedEntriesSubspace ofChannels = new FeedEntriesSubspace(db, channels);
    WrittenRows written =
        written(
            DatabaseSubspace.DERIVED_ROWS,
            tx -> {
              ofSelector.insertion("", ENTRY, Standing.MEMBER).write(tx, 1);
              ofChannels.insertion("c", ENTRY, Standing.BESIDE).write(tx, 2);
              ofChannels.insertion("d", ENTRY, Standing.LEFT).write(tx, 3);
              ofChannels.insertion("d", LIVE, Standing.LEFT).write(tx, 4);
              ofChannels.departure(LIVE).orElseThrow().write(tx, 4);
              assertThat(ofSelector.departure(LIVE)).isEmpty();
            });
    GoldenRows golden = GoldenRows.of("FeedEntriesSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    Sequence sequence = Sequence.of(db.incarnation(), written.stamp(), 2);
    assertThat(ofChannels.decode(golden.row("beside a channel")))
        .isEqualTo(
            new FeedEntriesSubspace.Row(
                "c",
                new FeedEntry(
                    new ChangeEntry(sequence, "x", ENTRY.winner(), true, 300), Standing.BESIDE)));
    assertThat(ofChannels.decode(golden.row("that has left a channel")).entry().standing())
        .isEqualTo(Standing.LEFT);
    assertThat(ofSelector.decode(golden.row("of a selector")).entry().standing())
        .isEqualTo(Standing.MEMBER);
  }

  @Test
  void departures() {
    FeedRemovalsSubspace departures = new FeedRemovalsSubspace(db, channels);
    WrittenRows written =
        written(DatabaseSubspace.DERIVED_ROWS, tx -> departures.insertion("x", "c").write(tx, 3));
    GoldenRows golden = GoldenRows.of("FeedRemovalsSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    Sequence sequence = Sequence.of(db.incarnation(), written.stamp(), 3);
    FeedRemovalsSubspace.Departure one = new FeedRemovalsSubspace.Departure("x", "c", sequence);
    assertThat(departures.decode(golden.row("a departure"))).isEqualTo(one);
    List<FeedRemovalsSubspace.Departure> found =
        test.read((tx, any) -> departures.all(tx, "x").join());
    assertThat(found).containsExactly(one);
  }
}
