package lectus;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import lectus.json.JsonLimits;
import lectus.store.Store;

/** Every key that the configuration knows. What each means stands in {@code conf/lectus.conf}. */
final class Keys {
  static final Key<String> HOST = Key.text("host", "127.0.0.1");
  static final Key<Integer> PORT = Key.number("port", 5984, 0, 65_535);
  static final Key<Boolean> ALLOW_ANONYMOUS = Key.flag("allow-anonymous");

  static final Key<String> DATA = Key.text("data", "data");
  static final Key<String> STORE =
      Key.oneOf("store", "embedded", List.of("embedded", "foundationdb"));
  static final Key<Long> STORE_CACHE_BYTES =
      Key.chosenNumber("store.cache-bytes", 16L << 20, 1L << 40);
  static final Key<Long> STORE_MEMTABLE_BYTES =
      Key.chosenNumber("store.memtable-bytes", 1L << 20, 1L << 30);
  static final Key<Long> STORE_OPEN_FILES = Key.chosenNumber("store.open-files", 64, 1_000_000);
  static final Key<String> CLUSTER_FILE = Key.text("cluster-file", "");
  static final Key<Integer> STORE_RESERVED_BYTES =
      Key.number("store.reserved-bytes", 0, 0, Integer.MAX_VALUE);
  static final Key<List<String>> DIRECTORY =
      Key.path("directory", String.join("/", Store.DEFAULT_DIRECTORY));

  static final Key<List<String>> HOSTS = Key.hosts("http.hosts", "");
  static final Key<List<String>> CORS_ORIGINS = Key.words("cors.origins", "");
  static final Key<Boolean> CORS_CREDENTIALS = Key.flag("cors.credentials");
  static final Key<List<String>> CORS_METHODS =
      Key.words("cors.methods", "GET, PUT, POST, HEAD, DELETE, COPY");
  static final Key<List<String>> CORS_HEADERS =
      Key.words(
          "cors.headers",
          "accept, accept-language, authorization, cache-control, content-length, content-range,"
              + " content-type, destination, expires, if-match, if-none-match, last-event-id,"
              + " last-modified, origin, pragma, referer, x-couch-full-commit, x-couch-id,"
              + " x-couch-persist, x-couch-request-id, x-couchdb-www-authenticate, x-csrf-token,"
              + " x-http-method-override, x-requested-with");
  static final Key<Integer> CORS_MAX_AGE = Key.number("cors.max-age", 600, 0, 86_400);

  static final Key<Boolean> ACCESS_LOG = Key.flag("access-log", true);
  static final Key<Integer> MAX_REQUEST_BYTES =
      Key.number("http.max-request-bytes", 128 << 20, 1 << 10, 1 << 30);
  static final Key<Integer> BODY_MEMORY_BYTES =
      Key.number("http.body-memory-bytes", 0, 0, Integer.MAX_VALUE);
  static final Key<Integer> MAX_URI_LENGTH = Key.number("http.max-uri-length", 8_000, 256, 1 << 20);
  static final Key<Integer> MAX_HEADER_BYTES =
      Key.number("http.max-header-bytes", 16_384, 1_024, 1 << 20);
  static final Key<Integer> IDLE_TIMEOUT_SECONDS =
      Key.number("http.idle-timeout-seconds", 300, 0, 86_400);
  static final Key<Integer> STALLED_SECONDS = Key.number("http.stalled-seconds", 20, 1, 3_600);
  static final Key<Integer> MAX_CONNECTIONS = Key.number("http.max-connections", 0, 0, 1_000_000);
  static final Key<Integer> HEAD_SECONDS = Key.number("http.head-seconds", 30, 1, 3_600);
  static final Key<Integer> SLOW_BODY_SECONDS = Key.number("http.slow-body-seconds", 30, 1, 3_600);
  static final Key<Integer> REQUEST_SECONDS = Key.number("http.request-seconds", 10, 1, 3_600);

  static final Key<Integer> MAX_MESSAGE_BYTES =
      Key.number("websocket.max-message-bytes", 256 << 10, 256, 64 << 20);
  static final Key<Integer> MAX_SUBSCRIPTIONS =
      Key.number("websocket.max-subscriptions", 1_000, 1, 1_000_000);
  static final Key<Integer> PING_SECONDS = Key.number("websocket.ping-seconds", 55, 1, 3_600);
  static final Key<Integer> WEBSOCKET_IDLE_SECONDS =
      Key.number("websocket.idle-timeout-seconds", 120, 1, 86_400);
  static final Key<Integer> MESSAGE_SECONDS = Key.number("websocket.message-seconds", 10, 1, 3_600);

  static final Key<Integer> STOP_SECONDS = Key.number("stop-seconds", 30, 0, 3_600);

  static final Key<Boolean> CLUSTER = Key.flag("cluster");
  static final Key<String> CLUSTER_CONFIG = Key.text("cluster.config", "");
  static final Key<Integer> CLUSTER_EVENT_PORT = Key.number("cluster.event-port", 0, 0, 65_535);

  static final Key<Integer> POLL_BUSY_MILLIS = Key.number("poll.busy-millis", 100, 10, 3_600_000);
  static final Key<Integer> POLL_IDLE_MILLIS = Key.number("poll.idle-millis", 2_000, 10, 3_600_000);

  static final Key<Integer> READERS = Key.number("workers.readers", 0, 0, 1_024);
  static final Key<Integer> EXECUTORS = Key.number("workers.executors", 0, 0, 1_024);
  static final Key<Integer> QUEUE_EDITS = Key.number("write-queue.edits", 10_000, 1, 1_000_000);
  static final Key<Integer> QUEUE_BYTES = Key.number("write-queue.bytes", 0, 0, 1 << 30);
  static final Key<Integer> BATCH_EDITS = Key.number("write-batch.edits", 64, 1, 1_000);
  static final Key<Integer> BATCH_BYTES =
      Key.number("write-batch.bytes", 1 << 20, 1 << 10, 4 << 20);

  static final Key<Integer> HOT_DOCUMENT_BYTES =
      Key.number("documents.cache-bytes", 0, 0, Integer.MAX_VALUE);
  static final Key<String> DOCUMENT_LIMITS =
      Key.oneOf("documents.limits", "couchdb", List.of("couchdb", "rfc004"));
  static final Key<Integer> MAX_DOCUMENT_BYTES =
      Key.number("documents.max-bytes", 0, 0, JsonLimits.MOST_DOCUMENT_BYTES);
  static final Key<Integer> MAX_ID_BYTES = Key.number("documents.max-id-bytes", 512, 1, 4_096);
  static final Key<Boolean> IGNORE_VALIDATION = Key.flag("documents.ignore-validate-doc-update");
  static final Key<Integer> MAX_UUIDS = Key.number("uuids.max-count", 1_000, 1, 100_000);

  static final List<Key<?>> ALL =
      List.of(
          HOST,
          PORT,
          ALLOW_ANONYMOUS,
          DATA,
          STORE,
          STORE_CACHE_BYTES,
          STORE_MEMTABLE_BYTES,
          STORE_OPEN_FILES,
          CLUSTER_FILE,
          STORE_RESERVED_BYTES,
          DIRECTORY,
          HOSTS,
          CORS_ORIGINS,
          CORS_CREDENTIALS,
          CORS_METHODS,
          CORS_HEADERS,
          CORS_MAX_AGE,
          ACCESS_LOG,
          MAX_REQUEST_BYTES,
          BODY_MEMORY_BYTES,
          MAX_URI_LENGTH,
          MAX_HEADER_BYTES,
          IDLE_TIMEOUT_SECONDS,
          STALLED_SECONDS,
          MAX_CONNECTIONS,
          HEAD_SECONDS,
          SLOW_BODY_SECONDS,
          REQUEST_SECONDS,
          MAX_MESSAGE_BYTES,
          MAX_SUBSCRIPTIONS,
          PING_SECONDS,
          WEBSOCKET_IDLE_SECONDS,
          MESSAGE_SECONDS,
          STOP_SECONDS,
          CLUSTER,
          CLUSTER_CONFIG,
          CLUSTER_EVENT_PORT,
          POLL_BUSY_MILLIS,
          POLL_IDLE_MILLIS,
          READERS,
          EXECUTORS,
          QUEUE_EDITS,
          QUEUE_BYTES,
          BATCH_EDITS,
          BATCH_BYTES,
          HOT_DOCUMENT_BYTES,
          DOCUMENT_LIMITS,
          MAX_DOCUMENT_BYTES,
          MAX_ID_BYTES,
          IGNORE_VALIDATION,
          MAX_UUIDS);

  static final Map<String, Key<?>> BY_NAME =
      ALL.stream().collect(Collectors.toUnmodifiableMap(Key::name, Function.identity()));
  static final Map<String, Key<?>> BY_VARIABLE =
      ALL.stream().collect(Collectors.toUnmodifiableMap(Key::variable, Function.identity()));

  private Keys() {}
}
