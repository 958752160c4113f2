package lectus.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.document.RequestJson;
import lectus.document.read.ListArgument;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.view.ViewDefinition.View;

/**
 * What a client asks of a view: one query, or several.
 *
 * @param parameters of the URL, decoded
 * @param body of a POST
 * @param areCombined whether the body has several queries
 */
public record ViewArguments(
    Map<String, String> parameters, Optional<byte[]> body, boolean areCombined) {

  /**
   * Parses the queries. The URL's parameters take precedence over a body, but an element of {@code
   * queries} over them.
   *
   * @throws LectusException {@code query_parse_error}, {@code bad_request}
   */
  List<ViewQuery> queries(View view, boolean isPartitioned) {
    List<ViewQuery> queries = areCombined ? several() : List.of(one());
    queries.forEach(it -> it.check(view, isPartitioned));
    queries.forEach(it -> it.checkOrder(view));
    return queries;
  }

  private ViewQuery one() {
    ViewQuery query = new ViewQuery();
    Optional<JsonObject> members = body.map(RequestJson::object);
    if (members.isPresent()) {
      Optional<JsonValue> keys = members.get().get("keys");
      if (keys.isPresent() && !(keys.get() instanceof JsonArray)) {
        throw LectusException.badRequest("`keys` member must be an array.");
      }
      if (keys.isPresent() && parameters.containsKey("keys")) {
        throw ListArgument.unparsable(
            "`keys` is incompatible with `key`, `start_key` and `end_key`");
      }
      take(query, members.get());
    }
    take(query, parameters);
    return query;
  }

  private List<ViewQuery> several() {
    List<ViewQuery> all = new ArrayList<>();
    for (JsonObject members : RequestJson.queries(body.orElseThrow())) {
      ViewQuery query = new ViewQuery();
      take(query, parameters);
      query.forgetKeysAndGroups();
      take(query, members);
      all.add(query);
    }
    return all;
  }

  private static void take(ViewQuery query, Map<String, String> parameters) {
    parameters.forEach((name, text) -> query.take(name, new ListArgument.Parameter(text)));
  }

  private static void take(ViewQuery query, JsonObject members) {
    members.members().forEach((name, json) -> query.take(name, new ListArgument.Member(json)));
  }
}
