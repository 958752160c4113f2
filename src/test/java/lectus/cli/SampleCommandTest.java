package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import lectus.Lectus;
import lectus.cli.SampleCommand.DocumentLoader;
import lectus.cli.SampleCommand.UnicodeCharacters;
import lectus.http.testing.LectusServer;
import lectus.json.JsonBuffer;
import lectus.json.JsonInput;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class SampleCommandTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private final List<String> authorizations = new CopyOnWriteArrayList<>();

  /** Loads into a server that gives the same answer to everything, and stores nothing. */
  private int load(boolean terminal, String user, String path, String answer) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          authorizations.add(
              exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Authorization"));
          byte[] body = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(201, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      int port = server.getAddress().getPort();
      return new CommandLine(new SampleCommand(terminal, name -> Optional.of("of " + name)))
          .setOut(new PrintWriter(out))
          .setErr(new PrintWriter(err))
          .execute("--url", "http://" + user + "127.0.0.1:" + port + path);
    } finally {
      server.stop(0);
    }
  }

  private int loadOn(boolean terminal) throws IOException {
    return load(terminal, "", "/u", "[]");
  }

  @Test
  void a_name_and_a_password_come_from_the_url_or_are_asked_for() throws IOException {
    assertThat(load(false, "root:a%3Ab@", "/u/", "[]")).isZero();
    assertThat(authorizations)
        .isNotEmpty()
        .allMatch(it -> it.endsWith(" " + basic("root:a:b")))
        .allMatch(it -> it.startsWith("/u ") || it.startsWith("/u/_bulk_docs "));
    assertThat(out.toString()).doesNotContain("root", "a%3Ab");
    authorizations.clear();

    assertThat(load(false, "ann@", "/u", "[]")).isZero();

    assertThat(authorizations).allMatch(it -> it.endsWith(" " + basic("ann:of ann")));
  }

  private static String basic(String both) {
    return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void documents_that_are_not_stored_are_not_counted_as_loaded() throws IOException {
    String rows = "[{\"id\":\"U+0000\",\"error\":\"forbidden\",\"reason\":\"no\"}]";

    assertThat(load(false, "", "/u", rows)).isOne();

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains("the server refused the document U+0000: forbidden, no");
  }

  @Test
  void documents_that_were_there_before_are_told_apart() throws IOException {
    assertThat(load(false, "", "/u", "[{\"id\":\"a\",\"error\":\"conflict\"}]")).isZero();

    assertThat(out.toString()).matches("Loaded \\d+ documents into \\S+, \\d+ of them before\\R");
  }

  @Test
  void the_users_database_takes_none_of_them() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      Console console = new Console(new PrintWriter(out), new PrintWriter(err));
      String[] args = {"sample", "--url", server.url() + "/_users"};

      assertThat(Lectus.run(args, Map.of(), console)).isOne();

      assertThat(out.toString()).isEmpty();
      assertThat(err.toString()).contains("the server refused the document U+0000");
    }
  }

  @Test
  void a_terminal_shows_how_far_it_is() throws IOException {
    assertThat(loadOn(true)).isZero();
    assertThat(out.toString()).startsWith("1000 documents\r2000 documents\r").contains("\rLoaded ");
  }

  @Test
  void a_file_has_the_result_alone() throws IOException {
    assertThat(loadOn(false)).isZero();
    assertThat(out.toString()).startsWith("Loaded ").doesNotContain("\r2000");
    assertThat(err.toString()).startsWith("20000 documents so far");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:5984",
        "http://127.0.0.1:5984/",
        "http://127.0.0.1:5984/unicode?a=b",
        "http:///unicode",
        "ftp://127.0.0.1/unicode",
        "/unicode",
        "unicode",
        "mailto:unicode",
      })
  void a_url_without_a_database_is_a_sentence(String url) {
    Console console = new Console(new PrintWriter(out), new PrintWriter(err));

    int status = Lectus.run(new String[] {"sample", "--url", url}, Map.of(), console);

    assertThat(status).isOne();
    assertThat(err.toString())
        .hasLineCount(1)
        .startsWith("lectus: ")
        .containsPattern("--url has to name a database|is no URL of a server");
  }

  @Test
  void a_letter() {
    assertThat(document('a'))
        .isEqualTo(
            "{\"_id\":\"U+0061\",\"code\":97,\"character\":\"a\",\"name\":\"LATIN SMALL LETTER A\","
                + "\"block\":\"BASIC_LATIN\",\"script\":\"LATIN\",\"category\":\"Ll\",\"bidi\":\"L\","
                + "\"mirrored\":false,\"numeric\":10,\"case\":{\"upper\":\"A\",\"title\":\"A\"}}");
  }

  @Test
  void a_character_beyond_the_basic_plane_and_one_whose_upper_case_is_two() {
    assertThat(document(0x1F600)).contains("\"U+1F600\"", "\"\ud83d\ude00\"", "GRINNING FACE");
    assertThat(document(0xDF)).contains("\"case\":{\"upper\":\"SS\"}");
  }

  @Test
  void some_140_000_characters_are_assigned_and_each_makes_a_document() {
    JsonBuffer buffer = new JsonBuffer(1_000);
    long documents =
        UnicodeCharacters.all()
            .peek(
                codePoint -> {
                  buffer.truncate(0);
                  UnicodeCharacters.write(codePoint, buffer);
                  parse(buffer);
                })
            .count();
    assertThat(documents).isBetween(140_000L, 200_000L);
  }

  private static void parse(JsonBuffer buffer) {
    try (JsonInput input = JsonInput.of(buffer.toBytes())) {
      input.next();
      input.skip();
      input.expectEnd();
    }
  }

  private static String document(int codePoint) {
    JsonBuffer buffer = new JsonBuffer(1_000);
    UnicodeCharacters.write(codePoint, buffer);
    return buffer.toString();
  }

  @Nested
  class Loader {
    private final List<Integer> told = new ArrayList<>();
    @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

    private DocumentLoader.Loaded load(String target) throws IOException {
      return load(target, 3);
    }

    private DocumentLoader.Loaded load(String target, int documents) throws IOException {
      return new DocumentLoader(
              ServerUrl.of(
                  URI.create(server.url() + target), Optional.empty(), name -> Optional.empty()),
              told::add)
          .load(IntStream.range(0, documents), Loader::write);
    }

    private static void write(JsonBuffer batch, int number) {
      batch.ascii("{\"_id\":\"" + number + "\"}");
    }

    @Test
    void documents_are_loaded_into_a_database_that_is_there_or_not() throws IOException {
      assertThat(load("/numbers")).isEqualTo(new DocumentLoader.Loaded(3, 0));
      assertThat(load("/numbers")).isEqualTo(new DocumentLoader.Loaded(3, 3));
      assertThat(server.get("/numbers").body()).contains("\"doc_count\":3,");
    }

    @Test
    void it_tells_how_many_documents_were_sent() throws IOException {
      assertThat(load("/numbers", 2_500).documents()).isEqualTo(2_500);
      assertThat(told).containsExactly(1_000, 2_000);
    }

    @Test
    void a_server_that_refuses_the_database_is_quoted() {
      assertThatThrownBy(() -> load("/"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("405");
      assertThatThrownBy(() -> load("/NO"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("illegal_database_name");
    }
  }
}
