package lectus.abuse.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Query strings. */
final class Parameters {
  private static final List<String> LISTS =
      List.of(
          "startkey",
          "endkey",
          "start_key",
          "end_key",
          "key",
          "keys",
          "limit",
          "skip",
          "descending",
          "inclusive_end",
          "include_docs",
          "conflicts",
          "update_seq",
          "startkey_docid",
          "endkey_docid",
          "stable",
          "update",
          "reduce",
          "group",
          "partition");

  private static final List<String> CHANGES =
      List.of(
          "since",
          "until",
          "limit",
          "descending",
          "include_docs",
          "conflicts",
          "style",
          "filter",
          "doc_ids",
          "seq_interval",
          "heartbeat",
          "timeout",
          "feed",
          "last-event-id",
          "view",
          "attachments",
          "att_encoding_info");

  private static final List<String> DOCUMENTS =
      List.of(
          "rev",
          "revs",
          "revs_info",
          "open_revs",
          "conflicts",
          "deleted_conflicts",
          "latest",
          "local_seq",
          "meta",
          "fields",
          "new_edits",
          "batch",
          "atts_since",
          "attachments");

  private static final List<String> OTHERS =
      List.of(
          "count",
          "q",
          "n",
          "partitioned",
          "changes_shards",
          "placement",
          "w",
          "odd",
          "",
          "next",
          "basic",
          "keys_limit");

  private static final List<String> EXTREMES =
      List.of(
          "",
          "null",
          "true",
          "false",
          "-1",
          "0",
          "1",
          "2147483648",
          "9223372036854775807",
          "9223372036854775808",
          "1e9",
          "-0",
          "NaN",
          "[]",
          "{}",
          "\"",
          "[\"a\"",
          "now",
          "all",
          "9".repeat(2_000),
          "[".repeat(3_000),
          "\u0000",
          "\uffff",
          "ä",
          "_",
          "0-",
          "\u001b[31m",
          "[[[[1]]]]",
          "{\"a\":1}",
          "\"\\ud800\"");

  private final Dice dice;
  private final Seen seen;
  private final JsonText json;

  Parameters(Dice dice, Seen seen, JsonText json) {
    this.dice = dice;
    this.seen = seen;
    this.json = json;
  }

  String none() {
    return dice.oneIn(30) ? "?" + some(List.of(OTHERS), 2) : "";
  }

  String ofLists() {
    return "?" + some(List.of(LISTS), 4);
  }

  String ofChanges() {
    return "?" + some(List.of(CHANGES), 4);
  }

  String ofDocuments() {
    return dice.oneIn(2) ? "" : "?" + some(List.of(DOCUMENTS), 3);
  }

  String ofOthers() {
    return dice.oneIn(2) ? "" : "?" + some(List.of(OTHERS), 2);
  }

  private String some(List<List<String>> kinds, int most) {
    List<String> all = new ArrayList<>();
    for (int i = dice.below(most + 1); i > 0; i--) {
      String name =
          dice.oneIn(20)
              ? dice.of(dice.of(LISTS, CHANGES, DOCUMENTS, OTHERS))
              : dice.of(dice.of(kinds));
      all.add(name + "=" + Names.encoded(value(name), dice));
    }
    return String.join("&", all);
  }

  private String value(String name) {
    if (dice.oneIn(7)) {
      return dice.of(EXTREMES);
    }
    return switch (name) {
      case "startkey", "endkey", "start_key", "end_key", "key" -> key();
      case "keys", "doc_ids" -> json.idList();
      case "limit", "skip", "count", "seq_interval", "keys_limit" ->
          Integer.toString(dice.below(30));
      case "since", "until", "last-event-id" -> sequence();
      case "style" -> dice.of("main_only", "all_docs", "odd");
      case "filter" -> dice.of("_doc_ids", "_selector", "_design", "_view", "d/f", "odd");
      case "feed" ->
          dice.of("normal", "normal", "continuous", "longpoll", "eventsource", "live", "odd");
      case "timeout", "heartbeat" -> dice.of("1", "10", "100", "1000", "60000", "true");
      case "rev" -> json.revision();
      case "open_revs" -> dice.oneIn(2) ? "all" : "[" + JsonText.string(json.revision()) + "]";
      case "atts_since" -> "[" + JsonText.string(json.revision()) + "]";
      case "fields" ->
          dice.of("[\"a1\"]", "[\"a.b\",\"_id\"]", "[\"x1\",\"x1.y\"]", "[1]", "[\"\"]", "a");
      case "changes_shards" -> dice.of("1", "2", "4", "16", "1025");
      case "batch" -> "ok";
      case "partition" -> dice.of("p", "\"p\"");
      case "view" -> dice.of("d/v", "d", "_all_docs");
      case "update", "stable" -> dice.of("true", "false", "lazy");
      default -> dice.of("true", "true", "false");
    };
  }

  private String key() {
    return dice.oneIn(4) ? json.value(1) : JsonText.string(Names.document(dice));
  }

  private String sequence() {
    return switch (dice.below(6)) {
      case 0 -> "now";
      case 1 ->
          new String(
              Mutation.of(seen.sequence(dice).getBytes(StandardCharsets.UTF_8), dice),
              StandardCharsets.ISO_8859_1);
      default -> seen.sequence(dice);
    };
  }
}
