package lectus.replication;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNumber;
import lectus.replication.SentDocument.RawJson;

/**
 * An answer with changes.
 *
 * @param revisions the changed leaves of documents by their ids, each once
 * @param documents those that came with their only leaf and its history
 * @param rows how many there were
 * @param end the position behind them
 * @param pending how many changes follow, if the source says so
 */
record ChangesPage(
    Map<String, List<String>> revisions,
    List<SentDocument> documents,
    int rows,
    JsonValue end,
    OptionalLong pending) {

  static ChangesPage of(byte[] answer) throws IOException {
    RawJson json = new RawJson(answer);
    Rows rows = new Rows();
    Optional<JsonValue> end = Optional.empty();
    OptionalLong pending = OptionalLong.empty();
    json.open('{');
    while (json.nextMember()) {
      if (json.isNamed("results")) {
        rows.read(json);
      } else if (json.isNamed("last_seq")) {
        end = Optional.of(json.value());
      } else if (json.isNamed("pending")) {
        pending = number(json.value());
      } else {
        json.skip();
      }
    }
    return new ChangesPage(
        rows.revisions,
        // Of a document that changed meanwhile, the second row has another leaf.
        rows.documents.stream().filter(it -> rows.revisions.get(it.id()).size() == 1).toList(),
        rows.count,
        end.orElseThrow(() -> new IOException("Changes without an end.")),
        pending);
  }

  private static OptionalLong number(JsonValue value) {
    return value instanceof JsonNumber number && number.text().matches("[0-9]{1,18}")
        ? OptionalLong.of(Long.parseLong(number.text()))
        : OptionalLong.empty();
  }

  private static final class Rows {
    private final Map<String, List<String>> revisions = new LinkedHashMap<>();
    private final List<SentDocument> documents = new ArrayList<>();
    private int count;

    void read(RawJson json) throws IOException {
      json.open('[');
      while (json.nextElement()) {
        row(json);
        count++;
      }
    }

    private void row(RawJson json) throws IOException {
      Optional<String> id = Optional.empty();
      List<String> leaves = List.of();
      Optional<SentDocument> document = Optional.empty();
      json.open('{');
      while (json.nextMember()) {
        if (json.isNamed("id")) {
          id = Optional.of(json.text());
        } else if (json.isNamed("changes")) {
          leaves = leaves(json);
        } else if (json.isNamed("doc") && json.isAtObject()) {
          document = Optional.of(SentDocument.of(json));
        } else {
          json.skip();
        }
      }
      String known = id.orElseThrow(() -> new IOException("A change without an id."));
      revisions.merge(known, leaves, Rows::both);
      if (document.isPresent() && leaves.size() == 1) {
        if (document.get().isWhole(known, leaves.get(0))) {
          documents.add(document.get());
        }
      }
    }

    private static List<String> both(List<String> some, List<String> others) {
      Set<String> each = new LinkedHashSet<>(some);
      each.addAll(others);
      return List.copyOf(each);
    }

    private static List<String> leaves(RawJson json) throws IOException {
      Set<String> leaves = new LinkedHashSet<>();
      json.open('[');
      while (json.nextElement()) {
        json.open('{');
        while (json.nextMember()) {
          if (json.isNamed("rev")) {
            leaves.add(json.text());
          } else {
            json.skip();
          }
        }
      }
      return List.copyOf(leaves);
    }
  }
}
