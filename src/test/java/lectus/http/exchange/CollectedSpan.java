package lectus.http.exchange;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A span as a collector gets it.
 *
 * @param parent empty: it has none
 * @param kind 1: internal, 2: of a server
 * @param service what it is a span of
 */
record CollectedSpan(
    String trace,
    String id,
    String parent,
    String name,
    long kind,
    long from,
    long to,
    Map<String, Object> attributes,
    long status,
    String service) {

  /** Returns the spans of a request to export some. */
  static List<CollectedSpan> read(byte[] request) {
    return ProtobufFields.of(request).messages(1).stream()
        .flatMap(
            of ->
                of.messages(2).stream()
                    .flatMap(scope -> scope.messages(2).stream())
                    .map(span -> read(span, service(of))))
        .toList();
  }

  private static String service(ProtobufFields ofResource) {
    return (String) attributes(ofResource.messages(1).get(0), 1).get("service.name");
  }

  private static CollectedSpan read(ProtobufFields span, String service) {
    HexFormat hex = HexFormat.of();
    return new CollectedSpan(
        hex.formatHex(span.bytes(1)),
        hex.formatHex(span.bytes(2)),
        hex.formatHex(span.bytes(4)),
        span.text(5),
        span.number(6),
        span.number(7),
        span.number(8),
        attributes(span, 9),
        span.messages(15).stream().mapToLong(it -> it.number(3)).sum(),
        service);
  }

  private static Map<String, Object> attributes(ProtobufFields message, int number) {
    Map<String, Object> attributes = new TreeMap<>();
    for (ProtobufFields each : message.messages(number)) {
      ProtobufFields value = each.messages(2).get(0);
      boolean isText = value.all().get(0).number() == 1;
      attributes.put(each.text(1), isText ? value.text(1) : (Object) value.number(3));
    }
    return attributes;
  }

  boolean contains(CollectedSpan part) {
    return from <= part.from && part.to <= to;
  }
}
