package lectus.json;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.List;
import lectus.tuple.TupleWriter;

/**
 * Explodes the members of one document into leaves while they are read (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/004-document-storage.md">RFC
 * 004</a>, "Value Encoding"). The caller walks the outermost object and passes on each member that
 * it does not handle itself:
 *
 * <pre>{@code
 * while (input.next() == JsonToken.FIELD_NAME) {
 *   exploder.member(input.name());
 * }
 * ExplodedBody body = exploder.finish();
 * }</pre>
 *
 * <p>Of duplicate members, at any depth, the last one wins; the earlier one is dropped with
 * everything below it. Nesting uses no stack; only the limit on paths bounds it. Exceeded limits
 * are thrown as 413 {@code document_too_large} (see {@link JsonLimits}), malformed JSON and values
 * that cannot be stored as 400 {@code bad_request}.
 */
public final class JsonExploder {
  private final JsonInput input;
  private final JsonLimits limits;
  private final LeafCollector leaves;
  private final LeafEncoder encoder = new LeafEncoder();
  private final TupleWriter path = new TupleWriter(128);
  private final List<Container> containers = new ArrayList<>();
  private int depth;
  private Container top;

  /** A container being read. Reused for the next one of the same depth. */
  private static final class Container {
    private final MemberTable members = new MemberTable();
    private boolean array;
    private int pathLength;
    private int children;
    private Member member;

    private void open(boolean isArray, int itsPathLength) {
      members.clear();
      array = isArray;
      pathLength = itsPathLength;
      children = 0;
    }
  }

  /** Reads from {@code input}, which the caller has moved into the document's object. */
  public JsonExploder(JsonInput input, JsonLimits limits) {
    this.input = input;
    this.limits = limits;
    this.leaves = new LeafCollector(limits);
    open(false);
  }

  /**
   * Explodes the member whose name is the input's current token. Afterwards the input stands on the
   * last token of its value.
   */
  public void member(String name) {
    int outer = depth;
    beginMember(name);
    do {
      take(input.next());
    } while (depth > outer);
  }

  /** Returns all members so far. The exploder cannot be used afterwards. */
  public ExplodedBody finish() {
    return leaves.finish();
  }

  private void take(JsonToken token) {
    switch (token) {
      case FIELD_NAME -> beginMember(input.rawName());
      case START_OBJECT, START_ARRAY -> {
        beginValue();
        open(token == JsonToken.START_ARRAY);
      }
      case END_OBJECT, END_ARRAY -> {
        close();
        endValue();
      }
      default -> {
        beginValue();
        checkCharacters(token);
        leaf(encoder.encode(input, token));
        endValue();
      }
    }
  }

  private void beginMember(String name) {
    top.member = top.members.member(name);
    leaves.begin(top.member);
    int from = path.length();
    try {
      path.string(name);
    } catch (IllegalArgumentException e) {
      throw input.invalid(JsonInput.UNPAIRED_SURROGATE);
    }
    checkPath();
    leaves.addJson(JsonEscapes.quotedSize(path.array(), from + 1, path.length() - 1) + 1);
  }

  private void beginValue() {
    if (top.array) {
      path.integer(top.children);
      checkPath();
    }
    top.children++;
  }

  private void endValue() {
    leaves.addJson(1);
    path.truncate(top.pathLength);
    if (!top.array) {
      leaves.complete(top.member);
    }
  }

  private void leaf(int jsonBytes) {
    TupleWriter value = encoder.value();
    if (value.length() > limits.stringBytes()) {
      throw TooLarge.value(pathText(), value.length(), limits.stringBytes());
    }
    if (StringPieces.areNeeded(value.length())) {
      limits.checkPath(path.array(), path.length(), value.length());
    }
    leaves.addJson(jsonBytes);
    leaves.add(path.array(), path.length(), value.array(), value.length());
  }

  /** A string longer than the document's limit is not even copied. */
  private void checkCharacters(JsonToken token) {
    if (token == JsonToken.VALUE_STRING && input.textLength() > limits.documentBytes()) {
      throw TooLarge.string(pathText(), input.textLength(), limits.documentBytes());
    }
  }

  private void open(boolean array) {
    if (depth == containers.size()) {
      containers.add(new Container());
    }
    top = containers.get(depth++);
    top.open(array, path.length());
  }

  private void close() {
    if (top.children == 0) {
      leaf(encoder.encodeEmpty(top.array));
    } else {
      // Two brackets, less the comma that the last child has counted.
      leaves.addJson(1);
    }
    depth--;
    top = containers.get(depth - 1);
  }

  private void checkPath() {
    limits.checkPath(path.array(), path.length(), 0);
  }

  private String pathText() {
    return PathText.of(path.array(), path.length());
  }
}
