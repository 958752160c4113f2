package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import lectus.Lectus;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.http.testing.LectusServer;
import lectus.image.ImageFrame;
import lectus.image.ImageFrame.Body;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.Gone;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Settings;
import lectus.image.ImageWriter;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Backups as files: {@code backup}, {@code verify} and {@code restore} with a server that has the
 * images that a test gives it.
 */
final class BackupCommandTest {
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;

  /** So many bytes lie between two that are flipped in turn. */
  private static final int BETWEEN_FLIPS = 7;

  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Map<String, String> environment = new HashMap<>();

  /** Answers by target: bytes, or a status. */
  private final Map<String, Object> answers = new ConcurrentHashMap<>();

  private final List<String> authorizations = new CopyOnWriteArrayList<>();
  private final Map<String, byte[]> restored = new ConcurrentHashMap<>();
  private HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private boolean breaksOff;

  /** Whether {@code HEAD /} is not answered. */
  private volatile boolean isSilent;

  /** How often {@code HEAD /} comes before an image is taken. */
  private volatile CountDownLatch asksBeforeAnswer = new CountDownLatch(0);

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.setExecutor(threads);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void answer(HttpExchange exchange) throws IOException {
    // Which name it is does not matter here, but it stays the same.
    String target =
        exchange
            .getRequestURI()
            .toString()
            .replaceFirst("[?]follower=[0-9a-f-]{36}&?", "?")
            .replaceFirst("[?]$", "");
    authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
    byte[] sent = exchange.getRequestBody().readAllBytes();
    if (exchange.getRequestMethod().equals("POST")) {
      restored.put(target, sent);
      await(asksBeforeAnswer);
    }
    if (target.equals("/")) {
      asksBeforeAnswer.countDown();
      await(new CountDownLatch(isSilent ? 1 : 0));
    }
    Object answer =
        answers.getOrDefault(
            exchange.getRequestMethod() + target, answers.getOrDefault(target, NOT_FOUND));
    int status = answer instanceof Integer it ? it : 200;
    byte[] body =
        answer instanceof byte[] it
            ? it
            : "{\"error\":\"no\",\"reason\":\"Told.\"}".getBytes(StandardCharsets.US_ASCII);
    exchange.sendResponseHeaders(
        status, exchange.getRequestMethod().equals("HEAD") ? -1 : body.length);
    if (!exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseBody().write(body, 0, breaksOff ? body.length / 2 : body.length);
    }
    exchange.close();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private int run(String... args) {
    return Lectus.run(args, environment, new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private int backup(String... args) {
    return run(
        Stream.of(List.of("backup", "--url", url(), "--to", folder.toString()), Arrays.asList(args))
            .flatMap(List::stream)
            .toArray(String[]::new));
  }

  private int verify() {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return run("verify", folder.toString());
  }

  private static Sequence sequence(int number) {
    return Sequence.of(0, new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) number}, 0);
  }

  /**
   * @param since 0: the whole
   */
  private static byte[] image(String database, int since, int until) {
    return image(
        database, since, until, new Settings(List.of()), new Gone("d" + until, sequence(until)));
  }

  private static byte[] image(String database, int since, int until, ImageFrame... frames) {
    JsonBuffer bytes = new JsonBuffer(1_024);
    ImageWriter writer = new ImageWriter();
    writer.begin(
        new Header(
            database,
            new InstanceId("0123456789abcdef0123456789abcdef"),
            0,
            1_700_000_000,
            1_700_000_000L + until,
            since == 0 ? Optional.empty() : Optional.of(sequence(since))),
        bytes);
    for (ImageFrame frame : frames) {
      writer.append(frame, bytes);
    }
    writer.end(sequence(until), bytes);
    return bytes.toBytes();
  }

  /** A whole image of {@code notes}, and two increments. */
  private void threeBackups() {
    answers.put("/notes/_image", image("notes", 0, 1));
    answers.put("/notes/_image?since=" + sequence(1), image("notes", 1, 2));
    answers.put("/notes/_image?since=" + sequence(2), image("notes", 2, 3));
    for (int i = 0; i < 3; i++) {
      assertThat(backup("notes")).as("%s", err).isZero();
    }
  }

  /** An image with a document that shows a content, which is part of it or not. */
  private static byte[] attached(int since, int until, String content, boolean isWhole) {
    byte[] bytes = content.getBytes(StandardCharsets.US_ASCII);
    ContentId id = ContentId.of(Digests.sha256().digest(bytes));
    Md5 md5 = Md5.of(new byte[16]);
    Attachment shown =
        new Attachment("f", "image/x", id, md5, bytes.length, bytes.length, false, 1);
    List<ImageFrame> frames = new ArrayList<>();
    frames.add(new Settings(List.of()));
    frames.add(new Document("d", sequence(until), 1, false));
    frames.add(
        new DocumentLeaf(
            RevisionId.of("1-a"),
            false,
            List.of(),
            new AttachmentList(List.of(shown)),
            new Body(1, new byte[0])));
    if (isWhole) {
      frames.add(new Content(id, md5, bytes.length, Optional.empty()));
      frames.add(new Chunk(bytes));
    }
    return image("notes", since, until, frames.toArray(ImageFrame[]::new));
  }

  @Test
  void a_server_that_leaves_out_too_much_is_asked_for_all() throws IOException {
    answers.put("/notes/_image", attached(0, 1, "first", true));
    String second = "/notes/_image?since=" + sequence(1);
    answers.put("GET" + second, attached(1, 2, "second", true));
    answers.put("POST" + second, attached(1, 2, "second", false));
    String third = "/notes/_image?since=" + sequence(2);
    answers.put("GET" + third, CONFLICT);
    answers.put("POST" + third, attached(2, 3, "second", false));
    String fourth = "/notes/_image?since=" + sequence(3);
    answers.put("GET" + fourth, attached(3, 4, "first", true));
    answers.put("POST" + fourth, FORBIDDEN);
    for (int i = 0; i < 4; i++) {
      assertThat(backup("notes")).as("%s", err).isZero();
    }

    assertThat(Files.readAllBytes(file(2))).isEqualTo(attached(1, 2, "second", true));
    assertThat(Files.readAllBytes(file(3))).isEqualTo(attached(2, 3, "second", false));
    assertThat(Files.readAllBytes(file(4))).isEqualTo(attached(3, 4, "first", true));
    assertThat(restored.get(second)).hasSize(16);
    assertThat(restored.get(fourth)).hasSize(32);
    assertThat(verify()).as("%s", err).isZero();

    answers.put("/notes/_image?since=" + sequence(4), attached(4, 5, "third", false));
    assertThat(backup("notes")).isOne();
    assertThat(err.toString()).contains("notes: the image lacks an attachment of the document d.");
  }

  @Test
  void an_attachment_that_no_image_has_is_named() throws IOException {
    answers.put("/notes/_image", attached(0, 1, "first", true));
    answers.put("/notes/_image?since=" + sequence(1), attached(1, 2, "first", false));
    backup("notes");
    backup("notes");
    assertThat(verify()).as("%s", err).isZero();

    Path description = folder.resolve("notes/backup.json");
    List<String> lines = Files.readAllLines(description);
    answers.put("/notes/_image", image("notes", 0, 1));
    backup("notes", "--whole-every", "0");
    // A folder in which the increment follows another image.
    Files.move(file(3), file(1), StandardCopyOption.REPLACE_EXISTING);
    String other = Files.readAllLines(description).get(3).replace("000003", "000001");
    lines.set(1, other + ",");
    Files.write(description, lines);
    assertVerifies("000002.image lacks an attachment of the document d");
  }

  private Path file(int number) {
    return folder.resolve("notes").resolve("%06d.image".formatted(number));
  }

  @Test
  void increments_follow_the_whole_and_are_restored_in_their_order() throws IOException {
    threeBackups();

    assertThat(out.toString().lines())
        .element(0)
        .asString()
        .startsWith("notes: the whole up to " + sequence(1));
    assertThat(out.toString().lines())
        .element(2)
        .asString()
        .startsWith("notes: an increment up to " + sequence(3));
    assertThat(verify()).as("%s", err).isZero();
    assertThat(out.toString().lines()).hasSize(3).allMatch(line -> line.startsWith("notes 00000"));
    assertThat(err.toString()).isEmpty();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file(1))))
        .isEqualTo("rw-------");

    answers.put("/notes2/_image", "{\"ok\":true}".getBytes(StandardCharsets.US_ASCII));
    assertThat(run("restore", folder.toString(), "--url", url(), "--as", "notes2")).isZero();
    assertThat(restored.get("/notes2/_image"))
        .isEqualTo(joined(image("notes", 0, 1), image("notes", 1, 2), image("notes", 2, 3)));
    String at = sequence(2).toString();
    assertThat(run("restore", folder + "/notes", "--url", url(), "--as", "notes2", "--at", at))
        .isZero();
    assertThat(restored.get("/notes2/_image"))
        .isEqualTo(joined(image("notes", 0, 1), image("notes", 1, 2)));
  }

  @Test
  void replications_begin_only_where_they_are_named() {
    threeBackups();
    byte[] ok = "{\"ok\":true}".getBytes(StandardCharsets.US_ASCII);
    for (String database : List.of("_replicator", "a/_replicator", "a/replicator")) {
      String path = "/" + database.replace("/", "%2F") + "/_image";
      answers.put(path, image(database, 0, 1));
      assertThat(backup(database)).as("%s", err).isZero();
      answers.put(path, ok);
    }
    answers.put("/notes/_image", ok);

    assertThat(run("restore", folder.toString(), "--url", url())).as("%s", err).isZero();
    assertThat(restored.keySet())
        .containsExactlyInAnyOrder("/notes/_image", "/a%2Freplicator/_image");
    assertThat(out.toString())
        .contains("\n_replicator: left out", "\na/_replicator: left out")
        .contains("a/replicator: restored");

    restored.clear();
    assertThat(run("restore", folder.toString(), "_replicator", "--url", url())).isZero();
    assertThat(run("restore", folder + "/a%2F_replicator", "--url", url())).isZero();
    assertThat(restored.keySet())
        .containsExactlyInAnyOrder("/_replicator/_image", "/a%2F_replicator/_image");
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(parts).forEach(all::writeBytes);
    return all.toByteArray();
  }

  @Test
  void what_cannot_be_restored_is_a_sentence_and_nothing_is_sent() throws IOException {
    threeBackups();
    answers.put("/there", 200);

    assertThat(run("restore", folder.toString(), "--url", url(), "--as", "there")).isOne();
    assertThat(run("restore", folder.toString(), "--url", url(), "--at", "00")).isOne();
    assertThat(run("restore", folder.toString(), "other", "--url", url())).isOne();
    assertThat(run("restore", folder.resolve("x").toString(), "--url", url())).isOne();
    Files.delete(file(2));
    assertThat(run("restore", folder.toString(), "--url", url())).isOne();

    assertThat(err.toString().lines())
        .satisfiesExactly(
            it -> assertThat(it).contains("the database there is there"),
            it -> assertThat(it).contains("no image ends at the sequence 00"),
            it -> assertThat(it).contains(folder + "/other: there is no backup."),
            it -> assertThat(it).contains("there is no backup in " + folder + "/x."),
            it -> assertThat(it).contains("000002.image is missing"));
    assertThat(restored).isEmpty();
  }

  @Test
  void a_flipped_byte_is_named_wherever_it_is() throws IOException {
    threeBackups();
    byte[] sound = Files.readAllBytes(file(2));
    for (int at = 0; at < sound.length; at += BETWEEN_FLIPS) {
      byte[] damaged = sound.clone();
      damaged[at] ^= 1;
      Files.write(file(2), damaged);

      assertThat(verify()).isOne();
      assertThat(err.toString()).hasLineCount(1).contains("000002.image cannot be used: ");
    }
    Files.write(file(2), sound);
    Path description = folder.resolve("notes/backup.json");
    String text = Files.readString(description);
    Files.writeString(description, text.replace("\"images\"", "\"imagez\""));
    assertThat(verify()).isOne();
    assertThat(err.toString()).contains("backup.json is damaged");
    Files.writeString(description, text.replace("_backup\":1", "_backup\":2"));
    assertThat(verify()).isOne();
    assertThat(err.toString()).contains("it was written by a newer version of Lectus");
  }

  /** Each member that a URL, a name of a file or a time is made of, or that is compared. */
  @Test
  void a_description_that_says_what_nobody_wrote_is_damaged_to_every_command() throws IOException {
    threeBackups();
    answers.put("/others/_image", image("others", 0, 1));
    Path description = folder.resolve("notes/backup.json");
    String text = Files.readString(description);
    Path metrics = folder.resolve("lectus.prom");
    for (String member :
        List.of(
            "database", "follower", "file", "instance", "since", "sequence", "written", "sha256")) {
      String damaged =
          text.replaceFirst("\"" + member + "\":\"[^\"]*\"", "\"" + member + "\":\"no such\"");
      assertThat(damaged).isNotEqualTo(text);
      Files.writeString(description, damaged);

      assertVerifies("backup.json is damaged");
      err.getBuffer().setLength(0);
      assertThat(backup("notes", "others", "--whole-every", "0", "--metrics", metrics.toString()))
          .isOne();
      assertThat(err.toString().lines())
          .as(member)
          .allSatisfy(it -> assertThat(it).endsWith("backup.json is damaged."))
          .hasSize(2);
      assertThat(Files.readString(metrics)).contains("\"others\"").doesNotContain("notes");
      err.getBuffer().setLength(0);
      assertThat(run("restore", folder.resolve("notes").toString(), "--url", url())).isOne();
      assertThat(err.toString()).hasLineCount(1).contains("backup.json is damaged");
    }
    assertThat(restored).isEmpty();
    Files.writeString(description, text);
    assertThat(verify()).isZero();
  }

  @Test
  void files_that_are_missing_shortened_or_foreign_are_named() throws IOException {
    threeBackups();
    byte[] second = Files.readAllBytes(file(2));
    Files.delete(file(2));
    assertVerifies("000002.image is missing");
    Files.write(file(2), Arrays.copyOf(second, second.length - 1));
    assertVerifies("000002.image cannot be used: the image is cut off behind byte");
    Files.write(file(2), new byte[0]);
    assertVerifies("000002.image cannot be used: the image is empty");
    Files.writeString(file(2), "something else");
    assertVerifies("000002.image cannot be used: this is no image of a database");
    Files.write(file(2), image("others", 1, 2));
    assertVerifies("000002.image is another image than was written");
    Files.copy(file(3), file(2), StandardCopyOption.REPLACE_EXISTING);
    assertVerifies("000002.image is another image than was written");
    Files.write(file(2), second);
    Files.writeString(folder.resolve("notes/letter.txt"), "");
    assertVerifies("letter.txt is no file of this backup");
    Files.move(folder.resolve("notes/letter.txt"), folder.resolve("notes/backup.image"));
    assertVerifies("backup.image is no file of this backup");
  }

  private void assertVerifies(String sentence) {
    assertThat(verify()).isOne();
    assertThat(err.toString()).hasLineCount(1).contains(sentence);
  }

  @Test
  void an_increment_that_is_not_described_is_missing() throws IOException {
    threeBackups();
    Path description = folder.resolve("notes/backup.json");
    List<String> lines = new ArrayList<>(Files.readAllLines(description));
    lines.removeIf(line -> line.contains("000002.image"));
    Files.write(description, lines);

    assertThat(verify()).isOne();
    assertThat(err.toString())
        .contains("the image before 000003.image is missing")
        .contains("000002.image is no file of this backup");
  }

  @Test
  void what_a_killed_command_left_is_no_damage_and_goes_with_the_next_one() throws IOException {
    threeBackups();
    answers.put("/notes/_image?since=" + sequence(3), image("notes", 3, 4));
    Files.writeString(folder.resolve("notes/000004.image.part"), "half");
    Files.writeString(file(4), "not described yet");
    Files.writeString(folder.resolve("notes/backup.json.new"), "");

    assertThat(verify()).as("%s", err).isZero();
    assertThat(backup("notes")).isZero();

    assertThat(verify()).isZero();
    assertThat(file(4)).hasBinaryContent(image("notes", 3, 4));
    assertThat(folder.resolve("notes/000004.image.part")).doesNotExist();
  }

  /** Such as those that another release makes of an image. */
  @Test
  void files_with_the_number_of_an_image_belong_to_it_and_go_with_it() throws IOException {
    threeBackups();
    Path described = Files.writeString(folder.resolve("notes/000003.other"), "");
    Path half = Files.writeString(folder.resolve("notes/000003.other.part"), "");
    Path left = Files.writeString(folder.resolve("notes/000004.other"), "");
    assertThat(verify()).as("%s", err).isZero();
    Path foreign = Files.writeString(folder.resolve("notes/20261127.log"), "");
    assertThat(verify()).isOne();

    answers.put("/notes/_image?since=" + sequence(3), FORBIDDEN);
    assertThat(backup("notes")).isOne();
    assertThat(foreign).exists();
    Files.delete(foreign);
    assertThat(described).exists();
    assertThat(half).doesNotExist();
    assertThat(left).doesNotExist();
    answers.put("/notes/_image", image("notes", 0, 4));
    assertThat(backup("notes", "--whole-every", "0", "--keep", "1")).isZero();
    assertThat(described).doesNotExist();
    assertThat(folder.resolve("notes/000003.contents")).doesNotExist();
    assertThat(folder.resolve("notes/000004.contents")).exists();
  }

  @Test
  void an_image_that_breaks_off_is_not_added() throws IOException {
    threeBackups();
    answers.put("/notes/_image?since=" + sequence(3), image("notes", 3, 4));
    breaksOff = true;
    assertThat(backup("notes")).isOne();
    assertThat(err.toString()).startsWith("lectus: notes: the server broke off").hasLineCount(1);
    assertThat(folder.resolve("notes")).isDirectoryNotContaining("glob:**/000004*");
    breaksOff = false;
    assertThat(backup("notes")).isZero();
    assertThat(verify()).isZero();

    answers.put("/notes/_image?since=" + sequence(4), image("notes", 3, 5));
    assertThat(backup("notes")).isOne();
    assertThat(err.toString()).contains("the server sent another image than was asked for");
  }

  @Test
  void a_server_that_has_fallen_silent_is_not_waited_for_without_end() throws IOException {
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(listening.getInetAddress(), listening.getLocalPort());
        Socket silent = listening.accept();
        InputStream watched =
            new ServerUrl.WatchedStream(client.getInputStream(), Duration.ofMillis(100))) {
      silent.getOutputStream().write(1);
      assertThat(watched.read()).isEqualTo(1);
      assertThatThrownBy(watched::read)
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("the server broke off");
    }
  }

  /** The server takes a connection, and no more. */
  @Test
  void no_command_waits_for_a_server_that_says_nothing() throws IOException {
    threeBackups();
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String there = "http://127.0.0.1:" + silent.getLocalPort();
      String to = folder.toString();
      List<List<String>> commands =
          List.of(
              List.of("backup", "notes", "--to", to, "--url", there, "--timeout", "1"),
              List.of("backup", "--store", "--url", there, "--timeout", "1"),
              List.of("restore", to, "--url", there, "--timeout", "1"),
              List.of("import", there, "--url", url(), "--timeout", "1"),
              List.of("compare", "notes", "--url", url(), "--with", there, "--timeout", "1"));
      List<CompletableFuture<String>> running =
          commands.stream().map(it -> CompletableFuture.supplyAsync(() -> failing(it))).toList();
      assertThat(running)
          .allMatch(it -> it.join().endsWith("no server answers at " + there + ".\n"));
    }
    assertThat(run("backup", "--all", "--to", folder.toString(), "--timeout", "0")).isOne();
    assertThat(err.toString()).isEqualTo("lectus: --timeout has to be 1 or more.\n");
  }

  private String failing(List<String> command) {
    StringWriter said = new StringWriter();
    Console console = new Console(new PrintWriter(new StringWriter()), new PrintWriter(said));
    assertThat(Lectus.run(command.toArray(String[]::new), environment, console)).isPositive();
    return said.toString();
  }

  /** Such as one that fills an index. */
  @Test
  void a_restore_waits_for_a_server_that_works_and_not_for_one_that_is_gone() {
    threeBackups();
    String[] restore = {"restore", folder.toString(), "--url", url(), "--timeout", "1"};
    answers.put("/notes/_image", "{\"ok\":true}".getBytes(StandardCharsets.US_ASCII));
    asksBeforeAnswer = new CountDownLatch(2);
    assertThat(run(restore)).as("%s", err).isZero();

    asksBeforeAnswer = new CountDownLatch(2);
    isSilent = true;
    assertThat(run(restore)).isOne();
    assertThat(err.toString()).contains("no server answers at " + url());
  }

  @Test
  void where_no_increment_is_possible_the_whole_begins_a_new_chain() throws IOException {
    threeBackups();
    answers.put("/notes/_image?since=" + sequence(3), CONFLICT);
    answers.put("/notes/_image", image("notes", 0, 4));

    assertThat(backup("notes")).isZero();
    assertThat(out.toString())
        .contains("notes: the whole again, because the server answered 409, no: Told.")
        .contains("notes: the whole up to " + sequence(4));
    // So it is where an image of the chain is lost.
    Files.delete(file(4));
    answers.put("/notes/_image", image("notes", 0, 5));
    assertThat(backup("notes")).isZero();
    assertThat(file(5)).hasBinaryContent(image("notes", 0, 5));
  }

  @Test
  void the_whole_is_made_again_in_time_and_old_chains_go() throws IOException {
    threeBackups();
    answers.put("/notes/_image", image("notes", 0, 4));
    answers.put("/notes/_image?since=" + sequence(3), FORBIDDEN);
    assertThat(backup("notes", "--whole-every", "1000000")).isOne();
    assertThat(backup("notes", "--whole-every", "7", "--keep", "2")).isZero();
    assertThat(file(1)).exists();
    answers.put("/notes/_image", image("notes", 0, 5));
    assertThat(backup("notes", "--whole-every", "0", "--keep", "2")).isZero();

    assertThat(file(1)).doesNotExist();
    assertThat(file(3)).doesNotExist();
    assertThat(file(4)).exists();
    assertThat(verify()).isZero();
    assertThat(out.toString().lines()).hasSize(2).allMatch(line -> line.contains("whole"));
  }

  @Test
  void all_databases_have_folders_of_their_own() throws IOException {
    answers.put("/_all_dbs", "[\"a/b\",\"gone\",\"z\"]".getBytes(StandardCharsets.US_ASCII));
    answers.put("/a%2Fb/_image", image("a/b", 0, 1));
    answers.put("/z/_image", image("z", 0, 1));

    assertThat(backup("--all")).isOne();
    Files.createFile(Files.createDirectory(folder.resolve("lost+found")).resolve("000001.image"));

    assertThat(err.toString()).isEqualTo("lectus: gone: the server answered 404, no: Told.\n");
    assertThat(folder.resolve("a%2Fb/000001.image")).exists();
    assertThat(folder.resolve("gone")).doesNotExist();
    assertThat(verify()).isZero();
    assertThat(out.toString()).contains("a/b 000001.image").contains("z 000001.image");
  }

  @Test
  void a_name_and_a_password_come_from_the_url_or_the_environment_and_are_never_shown() {
    environment.put("COUCHDB_USER", "ann");
    environment.put("COUCHDB_PASSWORD", "from the environment");
    threeBackups();
    answers.put("/notes/_image?since=" + sequence(3), FORBIDDEN);
    String named = url().replace("//", "//bob:s%40cret@");
    assertThat(run("backup", "notes", "--url", named, "--to", folder.toString())).isOne();
    String alone = url().replace("//", "//ann@");
    assertThat(run("backup", "notes", "--url", alone, "--to", folder.toString())).isOne();

    assertThat(authorizations)
        .containsExactly(
            basic("ann:from the environment"),
            basic("ann:from the environment"),
            basic("ann:from the environment"),
            basic("bob:s@cret"),
            basic("ann:from the environment"));
    assertThat(out.toString() + err).doesNotContain("cret", "from the environment");
  }

  private static String basic(String both) {
    return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void prometheus_is_told_of_the_last_good_backup_of_each_database() throws IOException {
    threeBackups();
    answers.put("/a%2Fb/_image", image("a/b", 0, 9));
    Path metrics = folder.resolve("lectus.prom");

    assertThat(backup("a/b", "gone", "--metrics", metrics.toString())).isOne();

    assertThat(Files.readAllLines(metrics))
        .hasSize(4)
        .endsWith(
            "lectus_backup_last_success_timestamp_seconds{database=\"a/b\"} 1700000009",
            "lectus_backup_last_success_timestamp_seconds{database=\"notes\"} 1700000003");
  }

  @Test
  void one_command_writes_at_a_time() throws IOException {
    threeBackups();
    try (BackupFolder held = BackupFolder.write(folder, "notes")) {
      assertThat(held.images()).hasSize(3);
      assertThat(backup("notes")).isOne();
    }
    assertThat(err.toString()).contains("another command writes to");
  }

  @Test
  void the_whole_store_can_be_copied_while_a_server_writes_to_it() {
    try (Store store = EmbeddedStores.open(folder.resolve("data"));
        LectusServer real = LectusServer.start(store)) {
      real.put("/w");
      real.write("/w/before", "{}");
      assertThat(run("backup", "--store", "--url", real.url())).as("%s", err).isZero();
      real.write("/w/after", "{}");
      real.get("/_node/_local/_checkpoint").expect(405);
      real.post("/_node/_local/_checkpoint/x", "").expect(404);
    }
    String copy = out.toString().strip();
    assertThat(run("check", "--data", copy)).isZero();
    assertThat(out.toString()).contains("Sound: 1 database with 1 document,");
  }

  @Test
  void a_mistake_is_one_sentence() {
    assertThat(backup()).isOne();
    assertThat(backup("notes", "--all")).isOne();
    assertThat(backup("notes", "--store")).isOne();
    assertThat(backup("notes", "--keep", "0")).isOne();
    assertThat(backup("notes", "--data", folder.toString())).isOne();
    assertThat(run("backup", "notes")).isOne();
    String to = folder.toString();
    assertThat(run("backup", "notes", "--to", to, "--url", "ftp://a:b@c")).isOne();
    assertThat(run("backup", "notes", "--to", to, "--url", "http://127.0.0.1:1")).isOne();
    assertThat(backup("")).isOne();
    assertThat(backup("No")).isOne();

    assertThat(err.toString()).hasLineCount(10).doesNotContain("Exception").doesNotContain("a:b");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void a_database_in_place_of_its_server_is_named_and_a_proxys_path_is_none() {
    answers.put("/notes", "{\"db_name\":\"notes\"}".getBytes(StandardCharsets.US_ASCII));
    String to = folder.toString();
    assertThat(run("backup", "notes", "--to", to, "--url", url() + "/notes/")).isOne();
    assertThat(err.toString())
        .startsWith("lectus: " + url() + "/notes is a database; the URL of its server is wanted");
    answers.put("/proxy/notes/_image", image("notes", 0, 1));
    assertThat(run("backup", "notes", "--to", to, "--url", url() + "/proxy"))
        .as("%s", err)
        .isZero();
  }

  @Test
  void a_file_that_cannot_be_written_is_named_with_the_reason() throws IOException {
    answers.put("/notes/_image", image("notes", 0, 1));
    Path file = Files.writeString(folder.resolve("file"), "");
    assertThat(run("backup", "notes", "--url", url(), "--to", file.toString())).isOne();
    Path none = folder.resolve("none/lectus.prom");
    assertThat(backup("notes", "--metrics", none.toString())).isOne();
    Path taken = Files.writeString(folder.resolve("taken"), "");
    assertThat(backup("taken")).isOne();

    assertThat(err.toString().lines())
        .containsExactly(
            "lectus: notes: " + file + "/notes: Not a directory.",
            "lectus: Not all was done: " + none + ".new: No such file or directory.",
            "lectus: taken: " + taken + ": File exists.");
    assertThat(verify()).as("%s", err).isZero();
  }
}
