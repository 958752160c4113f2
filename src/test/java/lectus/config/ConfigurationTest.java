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
import lectus.database.SettingsSubspace.SettingName;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.ServedSettings;
import lectus.http.ServedSettings.SettingsPlan;
import lectus.json.JsonLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ConfigurationTest {
  @TempDir private Path folder;
  private static final SettingName SIZE = name("chttpd/max_http_request_size");
  private static final SettingName LOCK = name("chttpd/require_valid_user");
  private static final SettingName CORS = name("chttpd/enable_cors");
  private static final SettingName ORIGINS = name("cors/origins");

  private final SettingsPlan large = plan(1L << 30, Map.of());
  private static final long MIB = 1L << 20;

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

  private static SettingName name(String text) {
    return SettingName.parse(text).orElseThrow();
  }

  private static SettingsPlan plan(long heap, Map<String, String> configured) {
    Configuration configuration = Configuration.of(null, Map.of(), configured);
    return new Settings(configuration, new Machine(heap, 4L << 30, 2, 1 << 20));
  }

  private static HttpSettings http(SettingsPlan plan, Map<SettingName, Optional<String>> stored) {
    return plan.with(stored).http();
  }

  private static Map<SettingName, Optional<String>> of(SettingName name, String text) {
    return Map.of(name, Optional.of(text));
  }

  @Test
  void what_a_server_with_more_memory_took_leaves_a_smaller_one_within_its_own() {
    SettingsPlan small = plan(64L << 20, Map.of());
    String size = Integer.toString(100 << 20);
    large.check(SIZE, size);
    ServedSettings served = small.with(of(SIZE, size));

    assertThat(http(large, of(SIZE, size)).requests().maxRequestBytes()).isEqualTo(100 << 20);
    assertThat(served.http().requests().maxRequestBytes()).isEqualTo(100 << 20);
    assertThat(served.http().requests().maxHeldBytes()).isEqualTo(8 << 20);
    assertThat(served.texts()).containsExactly(Map.entry(SIZE, size));
    small.check(SIZE, size);
  }

  @ParameterizedTest
  @ValueSource(strings = {"134217729", "4294967296", "9223372036854775807"})
  void a_size_beyond_what_the_server_can_hold_is_shown_as_set_and_never_in_force(String size) {
    SettingName documents = name("couchdb/max_document_size");
    large.check(SIZE, size);
    large.check(documents, size);

    ServedSettings served =
        large.with(Map.of(SIZE, Optional.of(size), documents, Optional.of(size)));

    assertThat(served.http().requests().maxHeldBytes()).isEqualTo(128 << 20);
    assertThat(served.documents().json().documentBytes()).isEqualTo(9_300_000);
    assertThat(served.texts()).containsEntry(SIZE, size).containsEntry(documents, size);
  }

  @ParameterizedTest
  @ValueSource(strings = {"9223372036854775808", "1023", "-1", "", "4 GB", "1e9", "infinity"})
  void what_is_no_size_is_refused(String size) {
    assertThatThrownBy(() -> large.check(SIZE, size))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("a whole number from 1024 to 9223372036854775807");
    assertThat(large.with(of(SIZE, size)).texts()).isEmpty();
    assertThat(http(large, of(SIZE, size)).requests().maxRequestBytes()).isEqualTo(4L << 30);
  }

  @Test
  void what_is_stored_wins_and_what_is_not_is_as_configured() {
    SettingsPlan plan =
        plan(1 << 30, Map.of("cors.origins", "https://a", "access.cookie-seconds", "5"));

    HttpSettings http = http(plan, of(ORIGINS, "https://b"));

    assertThat(http.cors().origins()).containsExactly("https://b");
    assertThat(http.cors().enabled()).isTrue();
    assertThat(http.access().cookies().seconds()).isEqualTo(5);
    assertThat(http(plan, of(CORS, "false")).cors().enabled()).isFalse();
  }

  @Test
  void origins_alone_do_not_switch_cors_on() {
    assertThat(http(large, of(ORIGINS, "*")).cors().enabled()).isFalse();
    assertThat(http(large, of(CORS, "true")).cors().enabled()).isTrue();
  }

  @Test
  void what_is_of_no_use_is_taken_for_what_is_safe() {
    assertThat(http(large, Map.of(LOCK, Optional.empty())).access().requiresValidUser()).isTrue();
    assertThat(http(large, of(LOCK, "perhaps")).access().requiresValidUser()).isTrue();
    SettingsPlan open = plan(1 << 30, Map.of("cors.origins", "https://a"));
    assertThat(http(open, Map.of(CORS, Optional.empty())).cors().enabled()).isFalse();
    assertThat(http(open, Map.of(ORIGINS, Optional.empty())).cors().origins()).isEmpty();
    assertThat(http(large, of(SIZE, "x")).requests().maxRequestBytes()).isEqualTo(4L << 30);
    assertThat(large.with(of(name("new/setting"), "x")).texts()).isEmpty();
  }

  @Test
  void a_long_value_is_not_repeated() {
    assertThatThrownBy(() -> large.check(LOCK, "x".repeat(101)))
        .hasMessageEndingWith("must be true or false.");
    assertThatThrownBy(() -> large.check(LOCK, "x".repeat(100))).hasMessageEndingWith("xx\".");
  }

  /**
   * Returns a container whose heap is that of conf/jvm.options: the smaller share where it is less
   * than the heap that a JVM has by default, which is 96 MB and three tenths.
   */
  private static Machine container(long megabytes) {
    long small = megabytes * 25 / 100;
    long heap = (small < 125 ? small : megabytes * 40 / 100) * MIB;
    return new Machine(heap, megabytes * MIB, 2, 65_536);
  }

  @ParameterizedTest
  @CsvSource({
    "192,48,32,0,0,112,false",
    "256,64,32,0,0,160,true",
    "320,80,32,0,0,208,true",
    "384,96,32,96,1,160,true",
    "512,204,32,116,1,160,true",
    "768,307,109,192,1,160,true",
    "1024,409,204,248,2,163,true",
    "1536,614,307,448,2,167,true",
    "2048,819,409,648,3,172,true",
    "4096,1638,819,1280,4,359,true",
    "65536,26214,13107,1280,4,24935,true"
  })
  void heap_and_store_leave_what_else_is_needed_in_a_container_of_any_size(
      long container,
      long heap,
      long store,
      long functions,
      int children,
      long left,
      boolean fits) {
    Settings settings =
        new Settings(Configuration.of(null, Map.of(), Map.of()), container(container));
    List<String> division = settings.division();

    assertThat(division.get(0))
        .isEqualTo(
            "Memory: %d MB heap, %d MB store, %d MB functions (%d child processes), %d MB for all else, of %d MB"
                .formatted(heap, store, functions, children, left, container));
    assertThat(division).hasSize(1 + (fits ? 0 : 1) + (children > 0 ? 0 : 1));
  }

  @ParameterizedTest
  @CsvSource({
    "256,store,foundationdb,2",
    "512,store.cache-bytes,155189248,2",
    "512,store.cache-bytes,156237824,3",
    "320,scripts.heap-megabytes,16,2"
  })
  void what_is_chosen_counts(long container, String key, String value, int sentences) {
    Configuration chosen = Configuration.of(null, Map.of(), Map.of(key, value));

    assertThat(new Settings(chosen, container(container)).division()).hasSize(sentences);
  }
}
