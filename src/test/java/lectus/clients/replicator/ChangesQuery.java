package lectus.clients.replicator;

import static lectus.clients.replicator.ReplicatorHttp.quoted;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * The changes that a replication requests ({@code couch_replicator_api_wrap:changes_since}).
 *
 * @param filter the name of a filter; empty: none
 * @param body the filter's argument
 * @param timeoutMillis time after which a continuous feed without changes ends
 */
record ChangesQuery(boolean continuous, String filter, Optional<String> body, int timeoutMillis) {
  /** A third of the replicator's {@code connection_timeout}. */
  private static final int TIMEOUT_MILLIS = 10_000;

  /** The shortest timeout that it requests. */
  private static final int SHORT_TIMEOUT_MILLIS = 1_000;

  /** Returns a query of all existing changes. */
  static ChangesQuery once() {
    return new ChangesQuery(false, "", Optional.empty(), TIMEOUT_MILLIS);
  }

  /** Returns a query of all existing and future changes. */
  static ChangesQuery continuously() {
    return new ChangesQuery(true, "", Optional.empty(), SHORT_TIMEOUT_MILLIS);
  }

  static ChangesQuery ofDocuments(List<String> ids) {
    String body = new JsonObject().put("doc_ids", new JsonArray(ids)).encode();
    return new ChangesQuery(false, "_doc_ids", Optional.of(body), TIMEOUT_MILLIS);
  }

  static ChangesQuery ofSelector(JsonObject selector) {
    String body = new JsonObject().put("selector", selector).encode();
    return new ChangesQuery(false, "_selector", Optional.of(body), TIMEOUT_MILLIS);
  }

  String method() {
    return body.isPresent() ? "POST" : "GET";
  }

  String text(String since) {
    return (filter.isEmpty() ? "" : "filter=" + filter + '&')
        + "feed="
        + (continuous ? "continuous" : "normal")
        + "&style=all_docs&since="
        + quoted(since)
        + "&timeout="
        + timeoutMillis;
  }
}
