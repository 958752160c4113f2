package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonInput;

/**
 * Reads the body of {@code _bulk_docs}: {@code {"docs":[…],"new_edits":true,"atomic":false}}, with
 * its members in any order. The last of duplicate members wins.
 */
final class BulkRequest {
  private final DocumentParser parser;
  private final LongConsumer memory;
  private Optional<List<DocumentReading>> documents = Optional.empty();
  private boolean newEdits = true;
  private boolean atomic;
  private boolean allOrNothing;

  /**
   * @param memory receives, for each document, the bytes of memory that it holds
   */
  BulkRequest(DocumentParser parser, LongConsumer memory) {
    this.parser = parser;
    this.memory = memory;
  }

  void read(JsonInput input) {
    if (input.next() != JsonToken.START_OBJECT) {
      throw LectusException.badRequest("Request body must be a JSON object");
    }
    while (input.next() == JsonToken.FIELD_NAME) {
      String name = input.name();
      JsonToken value = input.next();
      switch (name) {
        case "docs" -> documents = Optional.of(documents(input, value));
        case "new_edits" -> newEdits = bool(name, value);
        case "atomic" -> atomic = bool(name, value);
        case "all_or_nothing" -> {
          allOrNothing = value == JsonToken.VALUE_TRUE;
          input.skip();
        }
        default -> input.skip();
      }
    }
  }

  /** Turns the documents into edits once all members are known. */
  BulkEdits edits(Supplier<String> newId, Consumer<String> ids) {
    List<DocumentReading> readings =
        documents.orElseThrow(
            () -> LectusException.badRequest("POST body must include `docs` parameter."));
    List<Edit> edits = new ArrayList<>(readings.size());
    List<RefusedEdit> refused = new ArrayList<>();
    for (DocumentReading reading : readings) {
      requireRevision(reading);
      try {
        Edit edit = parser.edit(reading.parsed(), newEdits, newId);
        ids.accept(edit.id());
        edits.add(edit);
      } catch (LectusException refusal) {
        int place = edits.size() + refused.size();
        refused.add(refused(place, reading.identity(), refusal.error(), newId));
      }
    }
    return new BulkEdits(edits, refused, newEdits, mode());
  }

  /** CouchDB honours {@code all_or_nothing} only where it makes the revisions itself. */
  private BulkMode mode() {
    if (allOrNothing && newEdits) {
      return BulkMode.ALL_OR_NOTHING;
    }
    return atomic ? BulkMode.ATOMIC : BulkMode.EACH_ALONE;
  }

  /** No replicator omits revisions, so this is a fault of the request, not of one document. */
  private void requireRevision(DocumentReading reading) {
    if (!newEdits && reading instanceof ParsedDocument && !reading.identity().namesRevision()) {
      throw ParsedDocument.needsRevision();
    }
  }

  private RefusedEdit refused(
      int place, DocumentIdentity identity, LectusError error, Supplier<String> newId) {
    return new RefusedEdit(
        place,
        identity.id().orElseGet(newId),
        newEdits ? Optional.empty() : identity.revision(),
        error);
  }

  private List<DocumentReading> documents(JsonInput input, JsonToken value) {
    if (value != JsonToken.START_ARRAY) {
      throw LectusException.badRequest("`docs` parameter must be an array.");
    }
    List<DocumentReading> read = new ArrayList<>();
    while (input.next() != JsonToken.END_ARRAY) {
      if (read.size() == BulkEdits.MOST_DOCUMENTS) {
        throw tooMany();
      }
      DocumentReading reading = parser.element(input);
      memory.accept(reading.memoryBytes());
      read.add(reading);
    }
    return read;
  }

  private static boolean bool(String name, JsonToken value) {
    if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
      throw LectusException.badRequest("`" + name + "` parameter must be a boolean.");
    }
    return value == JsonToken.VALUE_TRUE;
  }

  private static LectusException tooMany() {
    return new LectusException(
        new LectusError.TooLarge(
            "too_large",
            "A request takes " + BulkEdits.MOST_DOCUMENTS + " documents at most, this has more."));
  }
}
