package lectus.image;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.local;
import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.attachment.ContentId;
import lectus.attachment.SweptStore;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.RestoresSubspace;
import lectus.database.Sequence;
import lectus.database.testing.TestLayout;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.derived.rows.JobList;
import lectus.derived.rows.JobWorker;
import lectus.document.edit.AttachmentEdits.InlineAttachments;
import lectus.document.edit.Edit;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.AutoPurge;
import lectus.document.write.Maintenance;
import lectus.document.write.SweepMetrics;
import lectus.document.write.TombstoneSweep;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.End;
import lectus.image.ImageFrame.Gone;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Local;
import lectus.image.ImageReading.Asked;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.revision.Ancestors;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.LeasedRounds;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Images are read and stored while documents are written, deleted, purged and swept, by sixteen
 * writers at times, while shards are added, indexes and stored feeds come and go and are filled,
 * commits are lost, streams break off, and servers that read or store one are killed. What is
 * restored from a whole image and its increments is, row by row, the database at the end of the
 * last one. {@code -Dlectus.test.image-rounds} sets how often.
 */
final class ImageModelTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int ROUNDS = Integer.getInteger("lectus.test.image-rounds", 5);

  /** Among so many images there are some with frames of every kind. */
  private static final int MOST_ROUNDS = 50;

  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_126);

  @Test
  void what_is_restored_is_the_database_at_the_end_of_the_image() {
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      try {
        new Round(seed).run();
      } catch (RuntimeException | AssertionError failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
  }

  /** Of some image at least, what is restored differs when one kind of its frames is left out. */
  @Test
  void planted_bugs_are_found() {
    Map<String, Predicate<ImageFrame>> bugs = new TreeMap<>();
    bugs.put("a purge that comes back", Gone.class::isInstance);
    bugs.put("a lost local document", Local.class::isInstance);
    bugs.put("a departure that is forgotten", Departures.class::isInstance);
    for (int round = 0; round < MOST_ROUNDS && !bugs.isEmpty(); round++) {
      Round some = new Round(SEED + round);
      some.write();
      byte[] image = some.chain();
      assertThat(some.restored("sound", image).differencesTo(some.expected)).isEmpty();
      bugs.entrySet()
          .removeIf(
              bug -> {
                String copy = bug.getKey().replace(' ', '_');
                byte[] damaged = without(image, bug.getValue());
                return !some.restored(copy, damaged).differencesTo(some.expected).isEmpty();
              });
      some.assertFindsAnEntryTwice("sound");
    }
    assertThat(bugs).isEmpty();
  }

  private static byte[] without(byte[] image, Predicate<ImageFrame> bug) {
    JsonBuffer out = new JsonBuffer(image.length);
    ImageWriter[] writer = {new ImageWriter()};
    ImageParser parser =
        new ImageParser(
            frame -> {
              if (frame instanceof Header header) {
                writer[0] = new ImageWriter();
                writer[0].begin(header, out);
              } else if (frame instanceof End end) {
                writer[0].end(end.sequence(), out);
              } else if (frame instanceof Document it && bug.test(new Departures(List.of()))) {
                writer[0].append(new Document(it.id(), it.sequence(), it.leaves(), false), out);
              } else if (!bug.test(frame)) {
                writer[0].append(frame, out);
              }
            });
    parser.take(image, 0, image.length);
    parser.finish();
    return out.toBytes();
  }

  /** A database that is written, its images, and what is restored from them. */
  private static final class Round {
    private static final int WRITERS = 16;

    private final Random random;
    private final FaultyStore faulty = new FaultyStore(stores.fresh(), true);
    private final Store store = faulty.store();
    private final TestDatabase db = TestDatabase.open(store, "db");
    private final FeedCatalogue feeds =
        new FeedCatalogue(db.catalogue, db.transactions, new FillingJobs(store.rootPrefix()));
    private final Servers servers = new Servers(db);
    private final Writer writer;
    private volatile boolean isFailing;
    private WholeDatabase expected;

    Round(long seed) {
      random = new Random(seed);
      writer = new Writer(db, feeds, random);
    }

    void write() {
      db.catalogue.create(db.name, TestLayout.options(random.nextBoolean(), 1 + random.nextInt(3)));
      if (random.nextBoolean()) {
        servers.purgeTombstones();
      }
      if (random.nextInt(3) == 0) {
        // More than an index or a stored feed has at once.
        writer.writeMany(FillingJobs.MAX_AT_ONCE + 50);
      }
      for (int i = 0; i < 150; i++) {
        act();
      }
      faulty.keepFailing(this::fault);
    }

    private void act() {
      int which = random.nextInt(30);
      switch (which) {
        case 0 -> servers.sweepTombstones();
        case 1 -> servers.fill();
        case 2 -> SweptStore.sweep(store);
        default -> writer.act();
      }
    }

    void run() {
      write();
      byte[] chain = chain();
      isFailing = random.nextBoolean();
      WholeDatabase restored = restored("copy", chain);
      assertThat(restored.differencesTo(expected)).isEmpty();
      calm();
      assertClean();
      TestDatabase copy = TestDatabase.open(store, "copy");
      assertThat(copy.catalogue.open(copy.name).incarnation()).isEqualTo(1);
      copy.put("p:new", "{}");
      assertThat(copy.read(ImagePage::lastOf)).isGreaterThan(expected.last());
      expected = WholeDatabase.of(copy);
      assertThat(restored("copy2", wholeOf(copy)).differencesTo(expected)).isEmpty();
      assertClean();
    }

    private void assertFindsAnEntryTwice(String name) {
      TestDatabase copy = TestDatabase.open(store, name);
      copy.transactions.run(
          tx -> {
            DatabaseHandle handle = copy.catalogue.current(tx, copy.name);
            RevisionId leaf = RevisionId.of("1-a");
            EditBranch winner =
                new EditBranch(leaf, false, Ancestors.NONE, BodySize.NONE, null)
                    .winningAt(expected.last().next(), 1, Optional.empty());
            new ChangesSubspace(handle)
                .insert(
                    tx,
                    handle.topology().shardIn(handle.topology().current(), "p:d0"),
                    1,
                    "p:d0",
                    winner);
            return null;
          });
      assertThat(WholeDatabase.of(copy).differencesTo(expected)).hasSize(1);
    }

    /** Nothing is left of what was killed, and all is sound. */
    private void assertClean() {
      calm();
      SweptStore.sweep(store);
      RestoresSubspace restores = new RestoresSubspace(store.rootPrefix());
      assertThat(db.transactions.<List<?>>read(tx -> Awaiting.await(restores.all(tx)))).isEmpty();
      SoundStore.assertSound(store);
    }

    private void calm() {
      isFailing = false;
      faulty.deliver();
    }

    /** A database that was restored has images, too. */
    private static byte[] wholeOf(TestDatabase copy) {
      JsonBuffer out = new JsonBuffer(1_000);
      ImageReading reading = reading(copy, new Asked(Optional.empty(), Optional.empty()));
      while (reading.appendNext(out)) {
        continue;
      }
      return out.toBytes();
    }

    private Fault fault() {
      Fault[] all = Fault.values();
      return isFailing && random.nextInt(9) == 0 ? all[random.nextInt(all.length)] : Fault.NONE;
    }

    /** Returns a whole image with increments that follow it. */
    byte[] chain() {
      JsonBuffer chain = new JsonBuffer(1_000);
      Optional<Sequence> since = Optional.empty();
      HeldContents held = new HeldContents();
      int parts = 1 + random.nextInt(4);
      for (int i = 0; i < parts; i++) {
        Optional<byte[]> part = Optional.empty();
        while (part.isEmpty()) {
          part = image(since, held);
        }
        chain.raw(part.get());
        ImageParser parser = new ImageParser(held::take);
        parser.take(part.get(), 0, part.get().length);
        assertThat(held.lacking()).isEmpty();
        since = Optional.of(parser.finish().sequence());
        assertThat(since).contains(expected.last());
        for (int act = random.nextInt(40); i < parts - 1 && act > 0; act--) {
          act();
        }
      }
      return chain.toBytes();
    }

    /** Returns empty if the stream broke off; what reads it is closed or was killed. */
    private Optional<byte[]> image(Optional<Sequence> since, HeldContents held) {
      Predicate<ContentId> left =
          random.nextInt(4) == 0 ? any -> false : HeldContents.of(held.named());
      ImageReading reading =
          reading(db, new Asked(since, Optional.of("chain"), left, Optional.empty()));
      Optional<byte[]> image = Optional.empty();
      try {
        image = attempted(reading);
      } catch (FDBException | LectusException lost) {
        assertThat(lost.getMessage()).doesNotContain("no_follower");
      } finally {
        calm();
      }
      if (image.isEmpty() && random.nextBoolean()) {
        reading.close();
      }
      return image;
    }

    private Optional<byte[]> attempted(ImageReading reading) {
      JsonBuffer out = new JsonBuffer(1_000);
      if (random.nextInt(3) == 0 && !hasLeftAmidWriters(reading, out)) {
        return Optional.empty();
      }
      int killedIn = random.nextInt(3) == 0 ? random.nextInt(4) : Integer.MAX_VALUE;
      int acts = random.nextInt(30);
      isFailing = random.nextInt(4) == 0;
      WholeDatabase before = WholeDatabase.of(db);
      for (boolean more = true; more; killedIn--) {
        if (killedIn == 0) {
          return Optional.empty();
        }
        boolean wasRead = reading.last().isPresent();
        more = reading.appendNextStep(out);
        expected = !wasRead && reading.last().isPresent() ? before : expected;
        int now = more ? Math.min(acts, random.nextInt(3)) : 0;
        acts -= now;
        for (int act = 0; act < now; act++) {
          attempt(this::act);
          faulty.deliver();
        }
        before = now > 0 ? WholeDatabase.of(db) : before;
      }
      return Optional.of(out.toBytes());
    }

    /**
     * Reads while many write at once. Returns false if it came to the end: nobody knows how the
     * database was then.
     */
    private boolean hasLeftAmidWriters(ImageReading reading, JsonBuffer out) {
      ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
      List<CompletableFuture<Void>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        Writer one = new Writer(db, feeds, new Random(random.nextLong()));
        writers.add(
            CompletableFuture.runAsync(
                () -> IntStream.range(0, 4).forEach(n -> attempt(one::act)), threads));
      }
      threads.shutdown();
      try {
        while (reading.last().isEmpty() && !threads.isTerminated()) {
          reading.appendNextStep(out);
        }
      } finally {
        writers.forEach(CompletableFuture::join);
      }
      return reading.last().isEmpty();
    }

    private static ImageReading reading(TestDatabase of, Asked what) {
      return new ImageReading(
          of.store,
          of.catalogue,
          InstantSource.system(),
          DatabaseRequest.byServer(of.name),
          what,
          () -> false,
          of.store.tasks().begin("backup"));
    }

    WholeDatabase restored(String name, byte[] image) {
      while (random.nextInt(3) == 0) {
        ImageStoring broken = storing(name);
        int most = random.nextInt(image.length);
        attempt(() -> feed(broken, Arrays.copyOf(image, most)));
        closeOrKill(broken);
      }
      boolean isStored = false;
      while (!isStored) {
        isStored = isStored(name, image);
      }
      return WholeDatabase.of(TestDatabase.open(store, name));
    }

    private ImageStoring storing(String name) {
      return new ImageStoring(
          store,
          db.catalogue,
          DatabaseName.of(name),
          Optional.empty(),
          Optional.empty(),
          InstantSource.system());
    }

    /** A server that is killed removes nothing. */
    private void closeOrKill(ImageStoring storing) {
      if (random.nextBoolean()) {
        attempt(storing::abandon);
      }
    }

    /** What a server logs. */
    private static void attempt(Runnable work) {
      try {
        work.run();
      } catch (FDBException | LectusException lost) {
        assertThat(lost.getMessage()).doesNotContain("bad_image");
      }
    }

    private boolean isStored(String name, byte[] image) {
      ImageStoring storing = storing(name);
      try {
        feed(storing, image);
        storing.end();
        while (storing.fillNext()) {
          if (random.nextInt(20) == 0) {
            closeOrKill(storing);
            return false;
          }
        }
        assertThat(storing.appear().last()).isEqualTo(expected.last());
        return true;
      } catch (FDBException | LectusException lost) {
        assertThat(lost.getMessage()).doesNotContain("bad_image");
        calm();
        closeOrKill(storing);
        isFailing = random.nextInt(4) > 0;
        return false;
      }
    }

    private void feed(ImageStoring storing, byte[] image) {
      int at = 0;
      while (at < image.length) {
        int end = Math.min(image.length, at + 1 + random.nextInt(50_000));
        storing.take(Arrays.copyOfRange(image, at, end));
        at = end;
      }
    }
  }

  /** What servers do in the background. */
  private static final class Servers {
    private final TestDatabase db;
    private final JobWorker worker;
    private final TombstoneSweep sweep;
    private long seconds = 1_800_000_000;

    Servers(TestDatabase db) {
      this.db = db;
      this.worker =
          new JobWorker(
              db.store,
              db.catalogue,
              Maintenance::rows,
              () -> false,
              new JobList(db.store, System::nanoTime),
              50);
      this.sweep =
          new TombstoneSweep(
              db.store,
              db.catalogue,
              db.writer,
              new SweepMetrics(),
              () -> Instant.ofEpochSecond(seconds),
              LeasedRounds.withoutPause(db.store, TombstoneSweep.TASK));
    }

    void purgeTombstones() {
      new AutoPurge(db.catalogue, db.transactions)
          .put(db.name, utf8("{\"deleted_document_ttl\":\"1_min\"}"));
    }

    /** What was deleted before the sweep before this one goes. */
    void sweepTombstones() {
      seconds += 61;
      all(sweep);
    }

    /** Fills in what indexes and stored feeds lack. */
    void fill() {
      all(worker);
    }

    private static void all(LeasedSteps steps) {
      while (steps.step()) {
        continue;
      }
    }
  }

  /** A client that writes at random. */
  private static final class Writer {
    private final TestDatabase db;
    private final FeedCatalogue feeds;
    private final Random random;
    private final InlineAttachments attachments;

    Writer(TestDatabase db, FeedCatalogue feeds, Random random) {
      this.db = db;
      this.feeds = feeds;
      this.random = random;
      this.attachments =
          new InlineAttachments(
              new AttachmentIntake(
                  new ContentStore(db.catalogue, db.transactions),
                  () -> AttachmentSettings.DEFAULT));
    }

    void writeMany(int count) {
      List<Edit> edits = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        edits.add(edit("p:m" + i, null, body(i)));
      }
      db.write(edits);
    }

    void act() {
      switch (random.nextInt(26)) {
        case 0 -> reshard();
        case 1 -> index();
        case 2 -> feed();
        case 3 -> writeLocal();
        case 4 -> attach();
        case 5 -> design();
        case 6 -> conflicts();
        case 7 -> db.catalogue.configure(db.name, it -> it.withRevsLimit(1 + random.nextInt(20)));
        case 8 ->
            db.catalogue.secure(
                db.name, utf8("{\"members\":{\"names\":[\"n" + random.nextInt(5) + "\"]}}"));
        case 9 -> large();
        default -> editOne();
      }
    }

    private void reshard() {
      if (db.catalogue.open(db.name).topology().generations().size() < 5) {
        db.catalogue.reshard(db.name, 1 + random.nextInt(4));
      }
    }

    private void index() {
      String field = random.nextBoolean() ? "a" : "b";
      replace(
          "_design/i",
          "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\""
              + field
              + "\":\"asc\"},\"partial_filter_selector\":{}},\"reduce\":\"_count\",\"options\":{"
              + "\"def\":{\"fields\":[\""
              + field
              + "\"]}}}}}");
    }

    private void design() {
      replace(
          "_design/v",
          "{\"language\":\"query\",\"validate_doc_update\":{\"newDoc\":{\"x"
              + random.nextInt(9)
              + "\":{\"$exists\":false}}}}");
    }

    /** Writes a document, whatever there is of it; deletes it now and then. */
    private void replace(String id, String json) {
      List<EditBranch> branches = db.branches(id);
      boolean isLive = !branches.isEmpty() && !branches.get(0).deleted();
      if (isLive && random.nextInt(3) == 0) {
        db.write(deletion(id, branches.get(0).leaf()));
      } else {
        db.write(edit(id, isLive ? branches.get(0).leaf() : null, json));
      }
    }

    private void feed() {
      String name = "f" + random.nextInt(2);
      boolean isThere = db.catalogue.open(db.name).feeds().named(name).isPresent();
      if (isThere && random.nextInt(3) == 0) {
        feeds.delete(db.name, name);
      } else if (!isThere) {
        JsonObject selector = (JsonObject) JsonValue.parse(utf8("{\"a\":{\"$gt\":2}}"));
        feeds.put(
            db.name,
            name.equals("f0")
                ? FeedDefinition.ofChannels(name, "ch")
                : FeedDefinition.ofSelector(name, selector));
      }
    }

    private void writeLocal() {
      String id = "_local/l" + random.nextInt(12);
      if (random.nextInt(4) == 0) {
        db.write(local(id, "0-1", "{\"_deleted\":true}"));
      } else {
        String body =
            "{\"n\":" + random.nextInt() + ",\"t\":\"" + "x".repeat(random.nextInt(20_000));
        db.write(local(id, "0-" + random.nextInt(5), body + "\"}"));
      }
    }

    private void attach() {
      byte[] bytes = new byte[random.nextInt(random.nextInt(10) == 0 ? 1_500_000 : 300)];
      new Random(random.nextInt(6)).nextBytes(bytes);
      String id = "p:a" + random.nextInt(10);
      List<EditBranch> branches = db.branches(id);
      boolean isLive = !branches.isEmpty() && !branches.get(0).deleted();
      Edit edit =
          edit(
              id,
              isLive ? branches.get(0).leaf() : null,
              "{\"a\":1,\"_attachments\":{\"n\":{\"content_type\":\""
                  + (random.nextBoolean() ? "text/plain" : "image/png")
                  + "\",\"data\":\""
                  + Base64.getEncoder().encodeToString(bytes)
                  + "\"}}}");
      db.write(attachments.stored(db.name, edit));
    }

    /** Some documents have more leaves than a transaction of a restore takes. */
    private void conflicts() {
      String id = "p:d" + random.nextInt(60);
      boolean isLarge = random.nextInt(8) == 0;
      int leaves = isLarge ? 250 : 1 + random.nextInt(4);
      String text = "x".repeat(isLarge ? 2_500 : 10);
      List<Edit> edits = new ArrayList<>();
      for (int i = 0; i < leaves; i++) {
        String revision = "%032x".formatted(random.nextInt(1_000));
        edits.add(
            TestDatabase.replicated(
                id,
                "{\"a\":" + random.nextInt(7) + ",\"ch\":\"c1\",\"t\":\"" + text + "\"}",
                "2-" + revision,
                "1-" + "a".repeat(32)));
      }
      db.write(edits);
    }

    private void large() {
      StringBuilder members = new StringBuilder("{\"z\":1.50,\"a\":3,\"ch\":\"c1\"");
      int count = random.nextInt(random.nextInt(6) == 0 ? 40_000 : 600);
      for (int i = 0; i < count; i++) {
        members
            .append(",\"m")
            .append(i * 7919 % 100_003)
            .append("\":\"value ")
            .append(i)
            .append('"');
      }
      replace("p:large" + random.nextInt(3), members.append('}').toString());
    }

    private void editOne() {
      String id = "p:d" + random.nextInt(60);
      List<EditBranch> branches = db.branches(id);
      boolean isLive = !branches.isEmpty() && !branches.get(0).deleted();
      int which = random.nextInt(8);
      if (isLive && which < 2) {
        db.write(deletion(id, branches.get(0).leaf()));
      } else if (!branches.isEmpty() && which == 2) {
        db.write(Purging.of(id, branches.get(random.nextInt(branches.size())).leaf()));
      } else {
        db.write(edit(id, isLive ? branches.get(0).leaf() : null, body(random.nextInt(35))));
      }
    }

    private static String body(int n) {
      return n % 5 == 4
          ? "{}"
          : "{\"b\":"
              + n % 3
              + ",\"a\":"
              + n % 7
              + ",\"ch\":[\"c"
              + n % 3
              + "\",\"d"
              + n % 2
              + "\"]}";
    }
  }
}
