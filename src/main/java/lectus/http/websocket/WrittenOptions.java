package lectus.http.websocket;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.SelectorBody;
import lectus.changes.page.FeedOptions;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.mango.selector.FilterSize;

/**
 * What a subscription's rows show, as its client wrote it. Compiling a selector takes too long for
 * an event loop, so the thread that opens the subscription does it.
 *
 * @param selector excludes {@code docIds} and {@code feed}, which exclude each other
 */
record WrittenOptions(
    boolean allLeaves,
    boolean includeDocs,
    boolean conflicts,
    Optional<JsonValue> selector,
    Optional<JsonValue> docIds,
    Optional<WrittenFeed> feed,
    Optional<JsonValue> fields) {

  /**
   * @throws LectusException {@code bad_request}
   */
  FeedOptions compile() {
    return new FeedOptions(
        allLeaves,
        includeDocs,
        conflicts,
        filter(),
        FeedOptions.DEFAULT.sequenceInterval(),
        fields.map(SelectorBody::fields).orElse(List.of()));
  }

  private FeedFilter filter() {
    if (feed.isPresent()) {
      return feed.get().filter();
    }
    return selector.isPresent()
        ? SelectorBody.filter(selector.get())
        : docIds.map(FeedFilter::documentIds).orElseGet(FeedFilter.None::new);
  }

  /** Returns the approximate memory, in bytes, of the filter and the fields, compiled or not. */
  long memory() {
    return Stream.of(selector, docIds, feed.flatMap(WrittenFeed::channels), fields)
        .flatMap(Optional::stream)
        .mapToLong(written -> FilterSize.of(written).memory())
        .sum();
  }
}
