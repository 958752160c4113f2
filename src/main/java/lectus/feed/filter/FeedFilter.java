package lectus.feed.filter;

import java.util.HashSet;
import java.util.Set;
import lectus.document.DocumentId;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.selector.Selector;

/** Decides which rows of a feed are shown. */
public sealed interface FeedFilter {
  /** All rows. */
  record None() implements FeedFilter {}

  /** {@code filter=_doc_ids}. */
  final class DocumentIds implements FeedFilter {
    private final Set<String> ids;

    /** Cached, because feeds are looked up by their filters whenever one comes or goes. */
    private final int hash;

    public DocumentIds(Set<String> ids) {
      this.ids = Set.copyOf(ids);
      this.hash = this.ids.hashCode();
    }

    public Set<String> ids() {
      return ids;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof DocumentIds it && hash == it.hash && ids.equals(it.ids);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  /** {@code filter=_design}. */
  record DesignDocuments() implements FeedFilter {}

  /** {@code filter=_selector}: by the content of documents, including tombstones. */
  record Selected(Selector selector) implements FeedFilter {}

  /** Whether a document with this id may be shown. */
  default boolean passes(String docId) {
    if (this instanceof DocumentIds some) {
      return some.ids().contains(docId);
    }
    return !(this instanceof DesignDocuments) || DocumentId.isDesign(docId);
  }

  /**
   * @param body {@code {"doc_ids":[…]}}
   * @throws LectusException {@code bad_request}
   */
  static FeedFilter documentIdsOfBody(byte[] body) {
    return documentIds(RequestJson.object(body).get("doc_ids").orElseThrow(FeedFilter::notIds));
  }

  /**
   * @param json an array of ids
   * @throws LectusException {@code bad_request}
   */
  static FeedFilter documentIds(JsonValue json) {
    if (!(json instanceof JsonValue.JsonArray array)) {
      throw notIds();
    }
    Set<String> ids = new HashSet<>();
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonValue.JsonString id)) {
        throw notIds();
      }
      ids.add(id.value());
    }
    return new DocumentIds(ids);
  }

  private static LectusException notIds() {
    return LectusException.badRequest("`doc_ids` filter parameter is not a list of doc ids.");
  }
}
