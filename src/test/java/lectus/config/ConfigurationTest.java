package lectus.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lectus.http.HttpSettings.HostSettings;
import lectus.json.JsonLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ConfigurationTest {
  @TempDir private Path folder;

  private Path file(String... lines) throws IOException {
    return Files.write(folder.resolve("lectus.conf"), List.of(lines));
  }

  private static Configuration of(Map<String, String> environment, Map<String, String> flags) {
    return Configuration.of(null, environment, flags);
  }

  @Test
  void defaults_are_loopback_and_couchdbs_port() {
    Configuration defaults = of(Map.of(), Map.of());

    assertThat(defaults.get(ListenKeys.HOST)).isEqualTo("127.0.0.1");
    assertThat(defaults.get(ListenKeys.PORT)).isEqualTo(5984);
    assertThat(defaults.get(StoreKeys.DATA)).isEqualTo("data");
    assertThat(defaults.get(StoreKeys.STORE)).isEqualTo("embedded");
    assertThat(defaults.get(ListenKeys.ALLOW_ANONYMOUS)).isFalse();
    assertThat(defaults.get(CorsKeys.CORS_ORIGINS)).isEmpty();
  }

  @Test
  void flags_count_more_than_environment_and_environment_more_than_file() throws IOException {
    Path file = file("# a comment", "", "port = 1", "data=of file", "  host = ::1  ");

    Configuration configuration =
        Configuration.of(
            file,
            Map.of("LECTUS_PORT", "2", "LECTUS_DATA", "of environment", "PATH", "/bin"),
            Map.of("port", "3"));
    assertThat(configuration.get(ListenKeys.PORT)).isEqualTo(3);
    assertThat(configuration.get(StoreKeys.DATA)).isEqualTo("of environment");
    assertThat(configuration.get(ListenKeys.HOST)).isEqualTo("::1");
  }

  @Test
  void documents_have_couchdbs_limits_or_the_rfcs() {
    assertThat(limits(Map.of())).isEqualTo(JsonLimits.couchDb());
    assertThat(limits(Map.of("documents.limits", "couchdb"))).isEqualTo(JsonLimits.couchDb());
    assertThat(limits(Map.of("documents.limits", "rfc004"))).isEqualTo(JsonLimits.rfc004());
    assertThat(limits(Map.of("documents.max-bytes", "9300000")))
        .isEqualTo(JsonLimits.couchDb().withDocumentBytes(9_300_000));
    assertThat(limits(Map.of("documents.limits", "rfc004", "documents.max-bytes", "7")))
        .isEqualTo(JsonLimits.rfc004().withDocumentBytes(7));
  }

  private static JsonLimits limits(Map<String, String> flags) {
    return Settings.of(of(Map.of(), flags)).node().documents().json();
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "127.0.0.1,-,localhost,evil.example",
        "127.0.0.1,db.example,db.example,evil.example",
        "localhost,-,127.0.0.1,evil.example",
        "::1,-,[::1],[::2]",
        "0.0.0.0,-,evil.example,-",
        "0.0.0.0,db.example,db.example,evil.example",
        "0.0.0.0,db.example,localhost,evil.example"
      })
  void on_loopback_or_with_names_only_those_are_served(
      String address, String names, String served, String refused) {
    HostSettings hosts =
        Settings.of(of(Map.of(), Map.of("host", address, "http.hosts", names == null ? "" : names)))
            .node()
            .http()
            .hosts();

    assertThat(hosts.serve(served, Optional::empty)).isTrue();
    assertThat(hosts.serve(hosts.any() ? "anything" : refused, Optional::empty))
        .isEqualTo(hosts.any());
    assertThat(hosts.any()).isEqualTo(refused == null);
  }

  @Test
  void all_web_pages_or_their_credentials_but_not_both() {
    Map<String, String> all = Map.of("cors.origins", "*");
    assertThat(Settings.of(of(Map.of(), all)).node().http().cors().allows("https://any.example"))
        .isTrue();
    Map<String, String> one =
        Map.of("cors.origins", "https://app.example", "cors.credentials", "true");
    assertThat(Settings.of(of(Map.of(), one)).node().http().cors().credentials()).isTrue();
    assertThatThrownBy(
            () ->
                Settings.of(of(Map.of(), Map.of("cors.origins", "*", "cors.credentials", "true")))
                    .node())
        .isInstanceOf(ConfigurationException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://*.example.com",
        "https://*",
        "http://localhost:*",
        "https://",
        "https://app.example/page",
        "https://jan@app.example",
        "https://app.example?x"
      })
  void an_origin_that_no_browser_sends_is_refused(String origin) {
    assertThatThrownBy(() -> of(Map.of(), Map.of("cors.origins", "https://a," + origin)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("without a path and without * in them");
  }

  @Test
  void names_of_cors_are_as_browsers_send_them() {
    Configuration cors =
        of(
            Map.of(),
            Map.of(
                "cors.origins",
                "HTTP://LocalHost:80, http://[::1]:5984, https://a:80, file://, null,"
                    + " capacitor://localhost",
                "cors.methods",
                "get, *",
                "cors.headers",
                "Range"));
    assertThat(cors.get(CorsKeys.CORS_ORIGINS))
        .containsExactly(
            "http://localhost",
            "http://[::1]:5984",
            "https://a:80",
            "file://",
            "null",
            "capacitor://localhost");
    assertThat(cors.get(CorsKeys.CORS_METHODS)).containsExactly("GET", "*");
    assertThat(cors.get(CorsKeys.CORS_HEADERS)).containsExactly("range");
    for (String key : List.of("cors.methods", "cors.headers")) {
      assertThatThrownBy(() -> of(Map.of(), Map.of(key, "x-*")))
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContaining("without *");
    }
  }

  @Test
  void web_pages_may_send_what_couchdb_lets_them_send() {
    assertThat(of(Map.of(), Map.of()).get(CorsKeys.CORS_HEADERS))
        .contains("accept", "accept-language", "authorization", "content-length", "content-range")
        .contains("content-type", "destination", "expires", "if-match", "last-modified", "origin")
        .contains("pragma", "x-couch-full-commit", "x-couch-id", "x-couch-persist")
        .contains("x-couchdb-www-authenticate", "x-http-method-override", "x-requested-with")
        .contains("if-none-match", "last-event-id", "x-couch-request-id")
        .allMatch(name -> name.equals(name.toLowerCase(Locale.ROOT)));
  }

  @Test
  void memtables_leave_room_in_the_cache() {
    Map<String, String> quarter =
        Map.of("store.cache-bytes", "40000000", "store.memtable-bytes", "10000000");
    Map<String, String> more =
        Map.of("store.cache-bytes", "40000000", "store.memtable-bytes", "10000001");

    assertThat(Settings.of(of(Map.of(), quarter)).store().memtable()).isEqualTo(10_000_000);
    assertThatThrownBy(() -> Settings.of(of(Map.of(), more)).store())
        .isInstanceOf(ConfigurationException.class)
        .hasMessage(
            "\"store.memtable-bytes\" (10000001) must not be more than a quarter of"
                + " \"store.cache-bytes\" (40000000).");
  }

  @Test
  void what_nobody_chose_follows_from_the_machine() {
    Configuration defaults = of(Map.of(), Map.of());
    Machine small = new Machine(256L << 20, 1L << 30, 2, 1_024);
    Machine large = new Machine(8L << 30, 64L << 30, 16, 1_000_000);

    assertThat(new Settings(defaults, small).node().readers()).isEqualTo(2);
    assertThat(new Settings(defaults, large).node().readers()).isEqualTo(32);
    assertThat(new Settings(defaults, large).node().writes().executors()).isEqualTo(16);
    assertThat(new Settings(defaults, small).node().maxConnections()).isEqualTo(512);
    assertThat(new Settings(defaults, small).node().http().requests().maxHeldBytes())
        .isEqualTo(32 << 20);
    assertThat(new Settings(defaults, large).node().http().requests().maxHeldBytes())
        .isEqualTo(128 << 20);
  }

  @Test
  void traces_go_to_the_path_of_otlp_unless_another_is_named() {
    assertThat(traces("http://collector:4318")).isEqualTo("http://collector:4318/v1/traces");
    assertThat(traces("https://collector/")).isEqualTo("https://collector/v1/traces");
    assertThat(traces("http://collector/a/b?c=d")).isEqualTo("http://collector/a/b?c=d");
    assertThat(new Settings(of(Map.of(), Map.of()), Machine.here()).node().tracing()).isEmpty();
  }

  private static String traces(String endpoint) {
    Configuration configuration = of(Map.of(), Map.of("tracing.endpoint", endpoint));
    return Settings.of(configuration).node().tracing().orElseThrow().endpoint().toString();
  }

  @Test
  void words_are_separated_by_commas() {
    assertThat(of(Map.of("LECTUS_CORS_METHODS", " a , b"), Map.of()).get(CorsKeys.CORS_METHODS))
        .containsExactly("A", "B");
  }

  @ParameterizedTest
  @CsvSource({
    "port,65535,65536",
    "port,0,-1",
    "cors.max-age,86400,86401",
    "workers.readers,1024,1025",
    "store,foundationdb,memory",
    "documents.limits,rfc004,rfc003",
    "documents.max-bytes,9300000,9300001",
    "store.cache-bytes,16777216,16777215",
    "store.cache-bytes,1099511627776,1099511627777",
    "store.memtable-bytes,1048576,1048575",
    "store.memtable-bytes,1073741824,1073741825",
    "http.hosts,db.example,db.example:80",
    "http.hosts,[::2],http://db.example",
    "allow-anonymous,true,yes",
    "access-log,false,0",
    "log.format,json,xml",
    "tracing.endpoint,http://127.0.0.1:4318/v1/traces,127.0.0.1:4318",
    "tracing.endpoint,https://[::1]:65535,https://[::1]:65536",
    "tracing.endpoint,'',http:/v1/traces",
    "tracing.endpoint,http://collector,http://user:word@collector",
    "tracing.endpoint,http://collector/a?b,http://collector/a b",
    "tracing.sample-ratio,0,-0.1",
    "tracing.sample-ratio,1.0,1.01",
    "tracing.sample-ratio,0.001,NaN"
  })
  void a_value_that_a_key_does_not_take_stops_the_start(String key, String good, String bad) {
    assertThat(of(Map.of(), Map.of(key, good))).isNotNull();
    assertThatThrownBy(() -> of(Map.of(), Map.of(key, bad)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageStartingWith("\"" + key + "\" must be ")
        .hasMessageEndingWith(", not \"" + bad + "\", on the command line.");
  }

  @Test
  void an_unknown_key_stops_the_start() throws IOException {
    Path file = file("port = 1", "prot = 2");

    assertThatThrownBy(() -> Configuration.of(file, Map.of(), Map.of()))
        .hasMessage(
            "There is no configuration key \"prot\", in " + file + ", line 2; \"port\" is one.");
    assertThatThrownBy(() -> of(Map.of("LECTUS_PROT", "1"), Map.of()))
        .hasMessage(
            "The environment variable LECTUS_PROT is no configuration key of Lectus;"
                + " \"LECTUS_PORT\" is one.");
    assertThatThrownBy(() -> of(Map.of(), Map.of("prot", "1")))
        .hasMessage(
            "There is no configuration key \"prot\", on the command line; \"port\" is one.");
  }

  @Test
  void a_blank_name_of_a_file_is_not_none() {
    Configuration open = of(Map.of(), Map.of());
    Configuration blank = of(Map.of("LECTUS_TLS_CERTIFICATE", " "), Map.of());
    Configuration members =
        of(Map.of("LECTUS_CLUSTER", "true", "LECTUS_CLUSTER_CONFIG", " "), Map.of());

    assertThat(Settings.of(open).node().wire().tls()).isEmpty();
    assertThat(Settings.of(blank).node().wire().tls()).isPresent();
    assertThatThrownBy(() -> Settings.of(members).node())
        .hasMessage("The cluster configuration   cannot be read.");
  }

  @Test
  void the_file_has_to_be_one() throws IOException {
    Path absent = folder.resolve("absent");
    Path noPairs = file("port 1");
    Path notUtf8 = Files.write(folder.resolve("latin1"), new byte[] {'#', (byte) 0xfc});

    assertThatThrownBy(() -> Configuration.of(absent, Map.of(), Map.of()))
        .hasMessage("The configuration file " + absent + " cannot be read.");
    assertThatThrownBy(() -> Configuration.of(noPairs, Map.of(), Map.of()))
        .hasMessage("There is no \"key = value\" in " + noPairs + ", line 1.");
    assertThatThrownBy(() -> Configuration.of(notUtf8, Map.of(), Map.of()))
        .hasMessage("The configuration file " + notUtf8 + " is not UTF-8.");
  }

  @Test
  void the_shipped_file_is_what_the_keys_declare() throws IOException {
    Path shipped = Path.of("conf/lectus.conf");

    assertThat(Files.readString(shipped))
        .as("`java -jar target/lectus.jar config > conf/lectus.conf` writes it anew")
        .isEqualTo(DefaultFile.text());
    assertThat(Configuration.of(shipped, Map.of(), Map.of())).isNotNull();
  }

  /** Without the comment signs it is a file that sets every key to its default, and no other. */
  @Test
  void the_default_file_sets_every_key_to_its_default() throws IOException {
    String uncommented = DefaultFile.text().replaceAll("(?m)^#(?! |$)", "");
    Configuration written = Configuration.of(file(uncommented), Map.of(), Map.of());
    List<String> set =
        uncommented
            .lines()
            .filter(line -> !line.isEmpty() && !line.startsWith("#"))
            .map(line -> line.substring(0, line.indexOf(" =")))
            .toList();

    assertThat(set)
        .containsExactlyElementsOf(KnownKeys.ALL.stream().map(ConfigurationKey::name).toList());
    KnownKeys.ALL.forEach(
        key -> assertThat((Object) written.get(key)).isEqualTo(of(Map.of(), Map.of()).get(key)));
  }

  @Test
  void every_key_says_what_it_means() {
    assertThat(KnownKeys.ALL).allMatch(key -> key.meaning().endsWith("."), "a sentence");
  }

  @Test
  void every_default_is_a_value_that_its_key_takes() {
    Configuration defaults = of(Map.of(), Map.of());

    KnownKeys.ALL.forEach(key -> assertThat((Object) defaults.get(key)).isNotNull());
  }
}
