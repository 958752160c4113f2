package lectus.attachment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.Transaction;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.NameRange;
import lectus.database.RestoresSubspace;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.LectusServer;
import lectus.image.ImageReading;
import lectus.image.ImageReading.Asked;
import lectus.image.ImageStoring;
import lectus.image.Images;
import lectus.json.JsonBuffer;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;
import lectus.store.testing.Await;
import lectus.store.testing.SmallDisk;
import lectus.store.testing.TestStores;
import lectus.store.testing.TimedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contents of purged documents go an hour later, and servers share that; the time is moved on. */
final class TimedSweepTest {
  private static final List<String> DATABASES = List.of("a", "b", "c");
  private static final int JUST_BEFORE = 3_590;

  @TempDir Path folder;
  private TimedStore time;

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @BeforeEach
  void open() {
    time = new TimedStore(folder);
    try (LectusServer server = LectusServer.start(time.store)) {
      for (String name : DATABASES) {
        server.put("/" + name);
        server.write("/" + name + "/kept", document("a2VwdA=="));
        String gone = server.write("/" + name + "/gone", document("Z29uZQ=="));
        server.post("/" + name + "/_purge", "{\"gone\":[\"" + gone + "\"]}").expect(201);
      }
    }
  }

  @AfterEach
  void close() {
    SoundStore.assertSound(time.store);
    time.close();
  }

  private static String document(String data) {
    return "{\"_attachments\":{\"f\":{\"content_type\":\"image/png\",\"data\":\"" + data + "\"}}}";
  }

  private StoreSweep sweep() {
    return new StoreSweep(time.store, TestDatabase.open(time.store, "a").catalogue);
  }

  private static void round(StoreSweep sweep) {
    while (sweep.step()) {
      continue;
    }
  }

  private int contents() {
    return DATABASES.stream()
        .mapToInt(name -> SweptStore.rows(time.store, name, AttachmentKeys.CONTENTS))
        .sum();
  }

  @Test
  void the_contents_of_a_purged_document_go_after_a_minute_while_the_disk_is_short_of_space() {
    try (SmallDisk disk = SmallDisk.mount(folder.resolve("disk"), 120);
        TimedStore small = new TimedStore(disk.data())) {
      try (LectusServer server = LectusServer.start(small.store)) {
        server.put("/a");
        String gone = server.write("/a/gone", document("Z29uZQ=="));
        disk.fillUpTo(10 << 20);
        Await.until("the space is short", small.store::isShortOfSpace);
        Await.until(
            "writes are refused",
            () -> server.put("/a/" + System.nanoTime(), "{}").status() == 507);
        server.post("/a/_purge", "{\"gone\":[\"" + gone + "\"]}").expect(201);
      }
      StoreSweep sweep = new StoreSweep(small.store, TestDatabase.open(small.store, "a").catalogue);
      small.pass(55);
      round(sweep);
      assertThat(SweptStore.rows(small.store, "a", AttachmentKeys.CONTENTS)).isEqualTo(1);

      small.pass(11);
      round(sweep);
      assertThat(SweptStore.rows(small.store, "a", AttachmentKeys.CONTENTS)).isZero();
    }
  }

  @Test
  void the_contents_of_a_purged_document_go_after_an_hour_and_not_before() {
    StoreSweep sweep = sweep();
    time.pass(JUST_BEFORE);
    round(sweep);
    assertThat(contents()).isEqualTo(6);

    time.pass(301);
    round(sweep);
    assertThat(contents()).isEqualTo(3);
  }

  @Test
  void what_a_killed_restore_has_left_goes_after_an_hour_and_not_before() {
    TestDatabase db = TestDatabase.open(time.store, "a");
    Images images = new Images(time.store, db.catalogue, () -> false);
    JsonBuffer image = new JsonBuffer(1_000);
    ImageReading reading =
        images.read(
            DatabaseRequest.byServer(db.name), new Asked(Optional.empty(), Optional.empty()));
    while (reading.appendNext(image)) {
      continue;
    }
    int most = image.length() - 10;
    ImageStoring killed = images.store(DatabaseName.of("copy"));
    killed.take(Arrays.copyOf(image.toBytes(), most));
    killed.relieve();
    StoreSweep sweep = sweep();
    time.pass(JUST_BEFORE);
    round(sweep);
    assertThat(restores()).isEqualTo(1);
    assertThat(db.catalogue.names(NameRange.ALL).names()).hasSize(DATABASES.size());
    SoundStore.assertSound(time.store);

    time.pass(301);
    round(sweep);
    assertThat(restores()).isZero();
    killed.take(Arrays.copyOfRange(image.toBytes(), most, image.length()));
    killed.end();
    assertThatThrownBy(killed::appear).hasMessageContaining("paused for too long");
    killed.abandon();
  }

  @Test
  void a_restore_that_this_version_cannot_read_keeps_no_database_from_being_swept() {
    byte[] key = RootSubspace.RESTORES.key(time.store.rootPrefix()).string("later").toBytes();
    TestDatabase db = TestDatabase.open(time.store, "a");
    byte[] later = new TupleWriter(2).integer(2).toBytes();
    db.transactions.run(tx -> put(tx, key, later));
    time.pass(3_601);
    StoreSweep sweep = sweep();

    assertThatThrownBy(sweep::step).hasMessageContaining("A restore");
    round(sweep);

    assertThat(contents()).isEqualTo(3);
    db.transactions.run(tx -> put(tx, key, null));
  }

  private static Void put(Transaction tx, byte[] key, byte[] value) {
    tx.clear(key);
    if (value != null) {
      tx.set(key, value);
    }
    return null;
  }

  private int restores() {
    RestoresSubspace rows = new RestoresSubspace(time.store.rootPrefix());
    return TestDatabase.open(time.store, "a")
        .transactions
        .read(tx -> Awaiting.await(rows.all(tx)))
        .size();
  }

  @Test
  void one_server_sweeps_and_the_other_goes_on_ten_seconds_after_it_was_killed() {
    time.pass(3_601);
    StoreSweep killed = sweep();
    StoreSweep other = sweep();
    assertThat(killed.step()).as("looks").isTrue();
    assertThat(other.step()).isFalse();
    assertThat(killed.step()).as("sweeps a database").isTrue();
    assertThat(contents()).isEqualTo(5);
    time.pass(9);
    assertThat(other.step()).isFalse();
    assertThat(contents()).isEqualTo(5);

    time.pass(2);
    round(other);
    assertThat(contents()).isEqualTo(3);
    assertThat(killed.step()).as("one that only slept").isFalse();
    assertThat(other.step()).as("the round has ended").isFalse();
  }

  @Test
  void a_step_renews_the_lease_once() {
    time.pass(3_601);
    StoreSweep sweep = sweep();
    assertThat(sweep.step()).as("looks").isTrue();
    time.pass(5);
    long before = time.store.transactionFigures().commits();

    assertThat(sweep.step()).as("sweeps a database").isTrue();

    assertThat(time.store.transactionFigures().commits() - before)
        .as("the renewal, and the removal")
        .isEqualTo(2);
  }
}
