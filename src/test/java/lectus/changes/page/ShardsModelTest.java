package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lectus.audit.testing.SoundStore;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.testing.FeedDatabase;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.ShardTopology.Generation;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random edits and reshardings, and between them readers of the whole database and of single shards
 * that begin anywhere, compared with a list.
 */
class ShardsModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final Pattern ROW =
      Pattern.compile(
          "\\{\"seq\":\"(\\w+)\",\"id\":\"(\\w+)\",\"changes\":\\[\\{\"rev\":\"([\\w-]+)\"}]");

  private static final int STEPS = 250;
  private static final int DOCUMENTS = 60;
  private static final String BEGINNING = "0";

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 2);

  /** The existing entries, oldest first. */
  private final List<Row> rows = new ArrayList<>();

  /** Every sequence that ever existed, including those of generations, oldest first. */
  private final List<String> history = new ArrayList<>(List.of(BEGINNING));

  private final Map<String, RevisionId> winners = new HashMap<>();
  private final List<ShardId> shards = new ArrayList<>(List.of(new ShardId("0")));
  private Random random;

  private record Row(String sequence, String id, String revision, ShardId shard) {}

  /**
   * The rows that a reader should see.
   *
   * @param rest all rows from its beginning
   */
  private record Expected(List<Row> rest, int limit, String end, Optional<Generation> replacement) {
    List<Row> shown() {
      return rest.subList(0, Math.min(limit, rest.size()));
    }

    boolean atEnd() {
      return shown().size() == rest.size();
    }

    String lastSequence(String since) {
      if (atEnd()) {
        return end;
      }
      return limit == 0 ? since : rest.get(limit - 1).sequence();
    }

    Optional<Generation> notice() {
      return atEnd() ? replacement : Optional.empty();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void every_reader_sees_what_the_model_says(long seed) {
    random = new Random(seed);
    for (int step = 0; step < STEPS; step++) {
      int dice = random.nextInt(100);
      if (dice < 45) {
        write();
      } else if (dice < 50) {
        reshard();
      } else if (dice < 70) {
        readAll();
      } else if (dice < 78) {
        readNewestFirst();
      } else {
        readShard();
      }
      assertThat(db.changes.updateSequence(db.name).map(Sequence::toString).orElse(BEGINNING))
          .as("step %d: neither falls, nor moves while nothing is written", step)
          .isEqualTo(last());
    }
    assertThat(topology().generations()).hasSizeGreaterThan(5);
    assertThat(topology().emptied()).isNotEmpty();
  }

  private void write() {
    List<Edit> edits = new ArrayList<>();
    Set<String> deleted = new HashSet<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      String id = "d" + random.nextInt(DOCUMENTS);
      if (edits.stream().noneMatch(edit -> edit.id().equals(id))) {
        boolean deletes = winners.get(id) != null && random.nextInt(9) == 0 && deleted.add(id);
        edits.add(FeedDatabase.edit(id, winners.get(id), deletes ? "{\"_deleted\":true}" : "{}"));
      }
    }
    WriteResult result = db.writeAll(edits);
    byte[] last = result.last().orElseThrow().versionstamp();
    byte[] stamp = Arrays.copyOf(last, Versionstamp.TRANSACTION_LENGTH);
    for (int i = 0; i < edits.size(); i++) {
      EditOutcome.Written written = (EditOutcome.Written) result.outcomes().get(i);
      Sequence sequence = Sequence.of(0, stamp, i + 1);
      String id = written.id();
      winners.put(id, deleted.contains(id) ? null : written.revision());
      rows.removeIf(row -> row.id().equals(id));
      ShardId shard = topology().shardAt(id, sequence);
      rows.add(new Row(sequence.toString(), id, written.revision().toString(), shard));
      history.add(sequence.toString());
    }
    assertThat(last()).isEqualTo(result.last().orElseThrow().toString());
  }

  private void reshard() {
    int[] counts = {1, 2, 3, 8, 31};
    int count = counts[random.nextInt(counts.length)];
    Generation generation = db.catalogue.reshard(db.name, count).topology().current();
    assertThat(generation.shards()).hasSize(count).doesNotContainAnyElementsOf(shards);
    shards.addAll(generation.shards());
    assertThat(since(generation)).isGreaterThan(last());
    history.add(since(generation));
  }

  private void readAll() {
    String since = anySequence();
    Expected expected = new Expected(behind(rows, since), anyLimit(), last(), Optional.empty());
    check(db.changes, since, expected);
  }

  private void readNewestFirst() {
    Optional<ShardId> shard = random.nextBoolean() ? Optional.empty() : Optional.of(anyShard());
    List<Row> all = new ArrayList<>(shard.map(this::rowsOf).orElse(rows));
    Collections.reverse(all);
    int limit = anyLimit();
    ChangesReader reader = inPages(shard);

    String answer = db.normal(reader, FeedOptions.DEFAULT, BEGINNING, limit, true);

    assertThat(shown(answer)).isEqualTo(shown(all.subList(0, Math.min(limit, all.size()))));
    assertThat(answer).doesNotContain("resharded");
  }

  private void readShard() {
    ShardId shard = anyShard();
    String since = anySequence();
    List<Row> rest = behind(rowsOf(shard), since);
    Optional<Generation> next = topology().after(topology().eraOf(shard).orElseThrow());
    boolean isOneOfSeveral = next.isEmpty() && topology().current().shards().size() > 1;
    String end =
        Collections.max(
            List.of(
                since,
                next.map(ShardsModelTest::since)
                    .orElseGet(() -> isOneOfSeveral ? readVersion() : last())));
    Optional<Generation> replacement =
        next.map(it -> since(it).compareTo(since) < 0 ? at(since) : it);
    check(db.changes.ofShard(shard), since, new Expected(rest, anyLimit(), end, replacement));
  }

  private void check(ChangesReader whole, String since, Expected expected) {
    if (random.nextBoolean()) {
      checkNormal(inPages(whole.shard()), since, expected);
    } else {
      checkLive(inPages(whole.shard()), since, expected);
    }
  }

  private void checkNormal(ChangesReader reader, String since, Expected expected) {
    String answer = db.normal(reader, FeedOptions.DEFAULT, since, expected.limit(), false);

    assertThat(shown(answer)).isEqualTo(shown(expected.shown()));
    assertThat(answer)
        .contains("],\n\"last_seq\":\"" + expected.lastSequence(since) + "\",\"pending\":");
    long pending = Long.parseLong(answer.replaceAll("(?s).*\"pending\":(\\d+).*", "$1"));
    assertThat(pending == 0).isEqualTo(expected.atEnd());
    if (since.equals(BEGINNING)) {
      assertThat(pending).isEqualTo(expected.rest().size() - expected.shown().size());
    }
    assertThat(answer.replaceAll("(?s).*\"pending\":\\d+", ""))
        .isEqualTo(expected.notice().map(ShardsModelTest::notice).orElse("") + "}\n");
  }

  private void checkLive(ChangesReader reader, String since, Expected expected) {
    DatabaseNotifications nobody = null;
    LiveStart<FeedPosition> start =
        reader.live(db.name, FeedOptions.DEFAULT, FeedPosition.since(since), nobody);
    List<String> seen = new ArrayList<>();
    FeedPosition position = start.from();
    LivePage<FeedPosition> page;
    do {
      page = start.source().page(position, expected.limit() - seen.size() + 1);
      for (int row = 0; row < page.rows().size(); row++) {
        seen.add(page.rows().at(row).text());
      }
      position = page.next();
    } while (!page.reachedEnd() && seen.size() <= expected.limit());
    List<Row> some = expected.rest().subList(0, seen.size());
    assertThat(seen).isEqualTo(some.stream().map(Row::sequence).toList());
    assertThat(page.reachedEnd()).isEqualTo(seen.size() == expected.rest().size());
    Optional<FeedEnd> notice =
        page.reachedEnd()
            ? expected
                .replacement()
                .map(
                    it ->
                        new FeedEnd.Resharded(
                            FeedPosition.after(it.since().orElseThrow()), it.shards()))
            : Optional.empty();
    assertThat(page.end()).isEqualTo(notice);
  }

  private static String notice(Generation next) {
    return ",\"resharded\":{\"seq\":\"%s\",\"shards\":[%s]}"
        .formatted(
            since(next),
            next.shards().stream()
                .map(shard -> "\"" + shard + "\"")
                .collect(Collectors.joining(",")));
  }

  /** Nobody writes between this and the read. */
  private String readVersion() {
    long version = db.transactions.read(tx -> Awaiting.await(tx.getReadVersion()));
    return new Sequence(0, Versionstamp.upTo(version).bytes()).toString();
  }

  private List<Row> rowsOf(ShardId shard) {
    return rows.stream().filter(row -> row.shard().equals(shard)).toList();
  }

  private static List<Row> behind(List<Row> rows, String since) {
    return rows.stream().filter(row -> row.sequence().compareTo(since) > 0).toList();
  }

  private ShardTopology topology() {
    return db.catalogue.open(db.name).topology();
  }

  private Generation at(String since) {
    return topology().at(Sequence.parse(since).orElseThrow());
  }

  private static String since(Generation generation) {
    return generation.since().map(Sequence::toString).orElse(BEGINNING);
  }

  private String last() {
    return history.get(history.size() - 1);
  }

  private String anySequence() {
    return random.nextInt(5) == 0 ? BEGINNING : history.get(random.nextInt(history.size()));
  }

  private int anyLimit() {
    return random.nextInt(4) == 0 ? 1_000_000 : random.nextInt(DOCUMENTS);
  }

  /** Returns a shard of any age, whether or not its generation still has rows. */
  private ShardId anyShard() {
    return shards.get(random.nextInt(shards.size()));
  }

  private ChangesReader inPages(Optional<ShardId> shard) {
    ChangesReader reader = SmallPages.of(db, 1 + random.nextInt(20), 1 + random.nextInt(2_000));
    return shard.map(reader::ofShard).orElse(reader);
  }

  private static List<String> shown(List<Row> rows) {
    return rows.stream().map(row -> row.sequence() + row.id() + row.revision()).toList();
  }

  private static List<String> shown(String answer) {
    List<String> shown = new ArrayList<>();
    Matcher matcher = ROW.matcher(answer);
    while (matcher.find()) {
      shown.add(matcher.group(1) + matcher.group(2) + matcher.group(3));
    }
    assertThat(answer.split("\"id\":", -1)).hasSize(shown.size() + 1);
    return shown;
  }
}
