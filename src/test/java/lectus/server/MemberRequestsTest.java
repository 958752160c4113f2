package lectus.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.junit5.VertxExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lectus.audit.testing.SoundStore;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.error.LectusException;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Question;
import lectus.http.Reply;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.metrics.Tasks.RunningTask;
import lectus.server.MemberMessage.Ask;
import lectus.server.MemberMessage.Life;
import lectus.server.MemberMessage.Meet;
import lectus.server.MemberMessage.SignedFields;
import lectus.server.MemberRequestHandler.MemberAddress;
import lectus.server.testing.ClusterFile;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /_node/{name}} of another member of the cluster, asked for through this one. */
final class MemberRequestsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @TempDir private static Path folder;

  private static final PollSettings HOURLY =
      new PollSettings(Duration.ofHours(1), Duration.ofHours(1));
  private static final String ROOT = "Basic cm9vdDpyb290";

  private static Member one;
  private static Member two;

  /** In the cluster, with a store of its own. */
  private static Member stranger;

  private static Store store;

  @BeforeAll
  static void form() {
    store = stores.fresh();
    lectus.http.testing.Member.makeAdmin(store, "root");
    Path file = ClusterFile.write(folder);
    one = new Member(file, store, HOURLY);
    two = new Member(file, store, HOURLY);
    stranger = new Member(file, stores.fresh(), HOURLY);
    Await.until("three know each other", () -> members().split("lectus@").length > 2 * 3);
    Await.until(
        "each can be asked", () -> get("/_node/" + name(two) + "/_versions").status() == 200);
    Await.until(
        "the stranger refuses",
        () -> get("/_node/" + name(stranger) + "/_versions").status() == 501);
  }

  @AfterAll
  static void leave() {
    stranger.close();
    two.close();
    one.close();
  }

  private static Request asRoot(LectusServer server, String method, String target) {
    return server.request(method, target, "Authorization", ROOT);
  }

  private static Answer get(String target) {
    return asRoot(one.server(), "GET", target).send();
  }

  private static String members() {
    return get("/_membership").body();
  }

  private static String name(Member member) {
    return member.name("");
  }

  private static double sample(String text, String start) {
    return text.lines()
        .filter(line -> line.startsWith(start))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "_prometheus",
        "_stats",
        "_stats/couchdb/httpd/bulk_requests",
        "_system",
        "_versions",
        "_active_tasks",
        "_config",
        "_config/couchdb",
        "_config/couchdb/uuid",
        "_config/admins",
        "_config/none/x",
        "_config/a/b/c/d"
      })
  void another_member_answers_like_itself(String below) {
    Answer there = asRoot(two.server(), "GET", "/_node/_local/" + below).send();
    Answer through = get("/_node/" + name(two) + "/" + below).expect(there.status());
    assertThat(through.header("content-type")).isEqualTo(there.header("content-type"));
    if (!below.matches("_prometheus|_stats|_system")) {
      through.expect(there.body());
    }
  }

  @Test
  void the_figures_are_the_other_members() {
    for (int i = 0; i < 50; i++) {
      two.server().get("/_up");
    }
    String figure = "lectus_http_requests_total{route=\"/_up\"";

    assertThat(sample(get("/_node/" + name(two) + "/_prometheus").body(), figure)).isEqualTo(50);
    assertThat(sample(get("/_node/_local/_prometheus").body(), figure)).isZero();
  }

  @Test
  void a_list_of_tasks_has_those_of_all_members_of_the_store() {
    String task = "{\"node\":\"" + name(one) + "\",";
    String other = "{\"node\":\"" + name(two) + "\",";
    try (RunningTask shown = store.tasks().begin("resharding", "w")) {
      // Both servers have one store, and so the same tasks.
      assertThat(shown).isNotNull();
      assertThat(get("/_active_tasks").body()).startsWith("[" + task).contains("," + other);
      assertThat(get("/_node/_local/_active_tasks").body()).contains(task).doesNotContain(other);
    }
    assertThat(get("/_active_tasks").body()).isEqualTo("[]\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"lectus@10.0.0.1:5701", "_all", "lectus@", "%00", "_local%2F"})
  void nobody_else_is_a_member(String name) {
    Answer answer = get("/_node/" + name + "/_stats").expect(404);
    assertThat(answer.member("error")).isEqualTo("not_found");
    assertThat(answer.member("reason")).startsWith("no such node: ");
  }

  @ParameterizedTest
  @CsvSource({
    "_stats,GET",
    "_prometheus,GET",
    "_config,GET",
    "_config/admins/x,PUT",
    "_active_tasks,GET"
  })
  void rights_are_checked_before_anybody_is_asked(String below, String method) {
    String target = "/_node/" + name(two) + "/" + below;

    one.server().request(method, target).json("\"x\"").send().expect(401);
  }

  @Test
  void methods_are_judged_by_the_other_member() {
    Answer answer =
        asRoot(one.server(), "POST", "/_node/" + name(two) + "/_stats").send().expect(405);
    assertThat(answer.header("allow")).isEqualTo("GET");
    Answer head =
        asRoot(one.server(), "HEAD", "/_node/" + name(two) + "/_versions").send().expect(200);
    assertThat(head.body()).isEmpty();
    get("/_node/" + name(two) + "/_smoosh").expect(501);
  }

  @Test
  void an_admin_who_is_made_through_another_member_is_everybodys() {
    String admins = "/_node/" + name(two) + "/_config/admins/boss";

    asRoot(one.server(), "PUT", admins).json("\"boss\"").send().expect(200);
    assertThat(asRoot(two.server(), "GET", "/_node/_local/_config/admins").send().body())
        .contains("\"boss\"");
    asRoot(one.server(), "DELETE", admins).send().expect(200);
    assertThat(asRoot(two.server(), "GET", "/_node/_local/_config/admins").send().body())
        .doesNotContain("\"boss\"");
  }

  @Test
  void a_setting_that_is_changed_through_another_member_is_everybodys() {
    String setting = "/_node/" + name(two) + "/_config/uuids/max_count";

    assertThat(asRoot(one.server(), "PUT", setting).json("\"7\"").send().body())
        .isEqualTo("\"1000\"\n");
    assertThat(get(setting).body()).isEqualTo("\"7\"\n");
    Await.until(
        "this one has it, too",
        () -> get("/_node/_local/_config/uuids/max_count").body().equals("\"7\"\n"));
    asRoot(one.server(), "PUT", setting).json("\"x\"").send().expect(400);
    assertThat(asRoot(one.server(), "DELETE", setting).send().body()).isEqualTo("\"7\"\n");
    assertThat(get(setting).body()).isEqualTo("\"1000\"\n");
  }

  @Test
  void a_path_of_many_names_is_no_other_store() {
    String longest = "/_node/" + name(two) + "/_config" + "/x".repeat(57);

    assertThat(get(longest).member("reason")).isEqualTo("missing");
    assertThat(get(longest + "/x").member("reason"))
        .isEqualTo("The request is too long for another member.");
  }

  @ParameterizedTest
  @CsvSource({
    "GET,_stats",
    "GET,_config/admins",
    "PUT,_config/admins/x",
    "DELETE,_config/admins/root"
  })
  void a_member_with_another_store_takes_nothing(String method, String below) {
    Request request = asRoot(one.server(), method, "/_node/" + name(stranger) + "/" + below);
    Answer answer = request.json("\"x\"").send().expect(501);
    assertThat(answer.member("reason")).startsWith(name(stranger) + " has another store");
    assertThat(get("/_node/_local/_config/admins").body())
        .contains("\"root\"")
        .doesNotContain("\"x\"");
  }

  @Test
  void a_restart_is_asked_of_the_member_that_is_named() {
    String target = "/_node/" + name(two) + "/_restart";
    one.server().request("POST", target).send().expect(401);
    get(target).expect(405);
    assertThat(two.isToRestart()).isFalse();

    assertThat(asRoot(one.server(), "POST", target).send().body()).isEqualTo("{\"ok\":true}\n");

    Await.until("it is to restart", two::isToRestart);
    assertThat(one.isToRestart()).isFalse();
    String other = "/_node/" + name(stranger) + "/_restart";
    asRoot(one.server(), "POST", other).send().expect(501);
    assertThat(stranger.isToRestart()).isFalse();
  }

  @Test
  void a_body_has_a_limit() {
    String setting = "/_node/" + name(two) + "/_config/uuids/max_count";
    String spaces = " ".repeat((16 << 10) - 6);

    asRoot(one.server(), "PUT", setting).json("\"1000\"" + spaces).send().expect(200);
    asRoot(one.server(), "PUT", setting).json("\"1000\"" + spaces + " ").send().expect(413);
  }

  /** What a member makes of messages, whoever sent them. */
  @Nested
  @ExtendWith(VertxExtension.class)
  class Handler {
    private static final byte[] SECRET = new byte[32];
    private static final byte[] NONCE = {1, 2, 3};
    private static final Question QUESTION =
        new Question("GET", List.of("_stats"), "", new byte[0]);

    private final Queue<Question> asked = new ConcurrentLinkedQueue<>();
    private final SignedFields key = new SignedFields(SECRET);
    private volatile Future<Reply> reply = Future.succeededFuture(Reply.json(200, "\"yes\""));
    private Vertx vertx;

    @BeforeEach
    void open(Vertx started) {
      vertx = started;
      new MemberRequestHandler(
              vertx,
              SECRET::clone,
              (question, context) -> {
                asked.add(question);
                return reply;
              })
          .open("a");
      MemberBus bus = bus();
      Await.until("it listens", () -> isMet(bus));
    }

    private static boolean isMet(MemberBus bus) {
      Future<Void> met = bus.meet("a");
      Await.until("it is answered", met::isComplete);
      return met.succeeded();
    }

    private MemberBus bus() {
      return new MemberBus(vertx, SECRET::clone);
    }

    private Message<Object> send(Object message) throws TimeoutException {
      return vertx
          .eventBus()
          .request(MemberAddress.of("a"), message, new DeliveryOptions().setSendTimeout(20_000))
          .await(20, TimeUnit.SECONDS);
    }

    private byte[] life() throws TimeoutException {
      Buffer answer = (Buffer) send(Buffer.buffer(key.written(new Meet(NONCE).fields()))).body();
      return ((Life) MemberMessage.of(key.read(answer.getBytes()).orElseThrow()).orElseThrow())
          .life();
    }

    @Test
    void a_question_is_answered() throws TimeoutException {
      Question put =
          new Question("PUT", List.of("_config", "a", "b"), "text/plain", new byte[] {'"', '"'});
      reply = Future.succeededFuture(Reply.json(405, "{}").with("Allow", "GET"));

      OtherMembers.Answer answer = bus().ask("a", put).await(20, TimeUnit.SECONDS);

      assertThat(answer.status()).isEqualTo(405);
      assertThat(answer.type()).isEqualTo("application/json");
      assertThat(answer.headers()).containsEntry("Allow", "GET");
      assertThat(new String(answer.body(), UTF_8)).isEqualTo("{}\n");
      Question heard = asked.remove();
      assertThat(heard.method()).isEqualTo("PUT");
      assertThat(heard.path()).containsExactly("_config", "a", "b");
      assertThat(heard.accept()).isEqualTo("text/plain");
      assertThat(heard.body()).containsExactly('"', '"');
    }

    @Test
    void what_is_not_signed_with_the_stores_secret_is_refused() throws TimeoutException {
      SignedFields other = new SignedFields(new byte[] {9});
      List<Object> hostile =
          new ArrayList<>(
              List.of(
                  "text",
                  5L,
                  new byte[] {1},
                  Buffer.buffer(),
                  Buffer.buffer(new byte[MemberAddress.MAX_QUESTION_BYTES + 1]),
                  Buffer.buffer(other.written(new Meet(NONCE).fields())),
                  Buffer.buffer(other.written(new Ask(NONCE, life(), QUESTION).fields())),
                  Buffer.buffer(key.written(List.of())),
                  Buffer.buffer(key.written(List.of(new byte[0], new byte[0]))),
                  Buffer.buffer(key.written(List.of("ask".getBytes(UTF_8), NONCE, life()))),
                  Buffer.buffer(key.written(new Life(NONCE, life()).fields()))));
      byte[] sound = key.written(new Ask(NONCE, life(), QUESTION).fields());
      Random random = new Random(5);
      for (int i = 0; i < 200; i++) {
        byte[] changed =
            Arrays.copyOf(
                sound, random.nextInt(8) == 0 ? random.nextInt(sound.length) : sound.length);
        if (changed.length == sound.length) {
          changed[random.nextInt(sound.length)] ^= (byte) (1 << random.nextInt(8));
        }
        hostile.add(Buffer.buffer(changed));
      }
      for (Object message : hostile) {
        assertThatThrownBy(() -> send(message)).isInstanceOf(ReplyException.class);
      }
      assertThat(asked).isEmpty();
      bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS);
      assertThat(asked).hasSize(1);
    }

    /** Else whoever listens on the wire could restart a server as often as he likes. */
    @Test
    void a_question_of_an_earlier_life_is_refused() throws TimeoutException {
      byte[] overheard = key.written(new Ask(NONCE, new byte[16], QUESTION).fields());

      assertThatThrownBy(() -> send(Buffer.buffer(overheard))).isInstanceOf(ReplyException.class);
      assertThat(asked).isEmpty();
    }

    @Test
    void lengths_that_point_beyond_the_message_are_refused() {
      byte[] none = key.written(List.of());
      assertThat(key.read(none)).contains(List.of());
      assertThat(key.read(new byte[31])).isEmpty();
      for (int length : new int[] {Integer.MAX_VALUE, -1, 5}) {
        // Signed all the same, as a member with a defect would.
        byte[] field = java.nio.ByteBuffer.allocate(4).putInt(length).array();
        byte[] whole = key.written(List.of(field));
        byte[] inner = Arrays.copyOfRange(whole, 4, whole.length);
        assertThat(key.read(inner)).isEmpty();
      }
      assertThat(key.read(key.written(java.util.Collections.nCopies(64, new byte[1])))).isPresent();
      assertThat(key.read(key.written(java.util.Collections.nCopies(65, new byte[1])))).isEmpty();
    }

    @Test
    void as_many_questions_as_allowed_are_answered_at_a_time() throws TimeoutException {
      Promise<Reply> late = Promise.promise();
      reply = late.future();
      MemberBus bus = bus();
      List<Future<OtherMembers.Answer>> waiting = new ArrayList<>();
      for (int i = 0; i < MemberAddress.MAX_AT_ONCE; i++) {
        waiting.add(bus.ask("a", QUESTION));
      }
      Await.until("all are asked", () -> asked.size() == MemberAddress.MAX_AT_ONCE);

      assertThatThrownBy(() -> bus.ask("a", QUESTION).await(20, TimeUnit.SECONDS))
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("Too many requests to other members");
      assertThatThrownBy(() -> bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS))
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("a is too busy");
      late.complete(Reply.ok(200));
      for (Future<OtherMembers.Answer> answer : waiting) {
        assertThat(answer.await(20, TimeUnit.SECONDS).status()).isEqualTo(200);
      }
      reply = Future.succeededFuture(Reply.ok(200));
      assertThat(bus.ask("a", QUESTION).await(20, TimeUnit.SECONDS).status()).isEqualTo(200);
    }

    @Test
    void a_question_has_a_limit_and_so_has_an_answer() throws TimeoutException {
      Question tooLong =
          new Question("PUT", List.of("x"), "", new byte[MemberAddress.MAX_QUESTION_BYTES]);
      assertThatThrownBy(() -> bus().ask("a", tooLong).await(20, TimeUnit.SECONDS))
          .hasMessageContaining("too long for another member");

      reply = Future.succeededFuture(Reply.json(200, " ".repeat((8 << 20) - 1_000)));
      assertThat(bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS).status()).isEqualTo(200);
      reply = Future.succeededFuture(Reply.json(200, " ".repeat(8 << 20)));
      assertThat(bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS).status()).isEqualTo(503);
    }

    @Test
    void nobody_waits_for_ever() {
      vertx.eventBus().consumer(MemberAddress.of("silent"), message -> {});
      MemberBus hasty = new MemberBus(vertx, SECRET::clone, 50);

      for (String member : List.of("silent", "nobody")) {
        assertThatThrownBy(() -> hasty.ask(member, QUESTION).await(20, TimeUnit.SECONDS))
            .hasMessage("nodedown: " + member + " is down");
      }
    }

    @Test
    void an_answer_that_another_gave_is_not_believed() {
      for (Object lie :
          List.of(
              "text",
              Buffer.buffer("lie"),
              Buffer.buffer(key.written(new Life(new byte[] {7}, new byte[16]).fields())),
              Buffer.buffer(new SignedFields(NONCE).written(new Meet(NONCE).fields())))) {
        var liar =
            vertx.eventBus().consumer(MemberAddress.of("liar"), message -> message.reply(lie));
        assertThatThrownBy(() -> bus().meet("liar").await(20, TimeUnit.SECONDS))
            .hasMessage("service_unavailable: The answer of liar cannot be understood.");
        liar.unregister();
      }
    }
  }
}
