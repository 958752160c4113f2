package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.json.JsonInput;

/**
 * The body of {@code _bulk_docs}: {@code {"docs":[…],"new_edits":true,"atomic":false}}, its members
 * in any order. A malformed document anywhere refuses all of them.
 *
 * @param newEdits false where the documents come with revisions of their own
 * @param atomic whether all are to be stored or none
 */
public record BulkEdits(List<Edit> edits, boolean newEdits, boolean atomic) {

  /**
   * @param newId makes ids for documents without one
   * @throws LectusException as {@link DocumentParser}
   */
  public static BulkEdits parse(DocumentParser parser, byte[] json, Supplier<String> newId) {
    List<ParsedDocument> documents = null;
    boolean newEdits = true;
    boolean atomic = false;
    try (JsonInput input = JsonInput.of(json)) {
      if (input.next() != JsonToken.START_OBJECT) {
        throw LectusException.badRequest("Request body must be a JSON object");
      }
      while (input.next() == JsonToken.FIELD_NAME) {
        String name = input.name();
        JsonToken value = input.next();
        switch (name) {
          case "docs" -> documents = documents(parser, input, value);
          case "new_edits" -> newEdits = bool(name, value);
          case "atomic" -> atomic = bool(name, value);
          default -> input.skip();
        }
      }
      input.expectEnd();
    }
    if (documents == null) {
      throw LectusException.badRequest("POST body must include `docs` parameter.");
    }
    return new BulkEdits(edits(parser, documents, newEdits, newId), newEdits, atomic);
  }

  private static List<ParsedDocument> documents(
      DocumentParser parser, JsonInput input, JsonToken value) {
    if (value != JsonToken.START_ARRAY) {
      throw LectusException.badRequest("`docs` parameter must be an array.");
    }
    List<ParsedDocument> documents = new ArrayList<>();
    while (input.next() != JsonToken.END_ARRAY) {
      documents.add(parser.element(input));
    }
    return documents;
  }

  private static List<Edit> edits(
      DocumentParser parser,
      List<ParsedDocument> documents,
      boolean newEdits,
      Supplier<String> newId) {
    List<Edit> edits = new ArrayList<>(documents.size());
    for (ParsedDocument document : documents) {
      edits.add(parser.edit(document, newEdits, newId));
    }
    return edits;
  }

  private static boolean bool(String name, JsonToken value) {
    if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
      throw LectusException.badRequest("`" + name + "` parameter must be a boolean.");
    }
    return value == JsonToken.VALUE_TRUE;
  }
}
