package lectus.http.exchange;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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

  /** The fields of one message of Protocol Buffers, in their order. */
  private record ProtobufFields(List<Field> all) {
    private static final int VARINT = 0;
    private static final int FIXED_64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED_32 = 5;

    /**
     * @param bytes empty for a number
     */
    record Field(int number, long value, byte[] bytes) {}

    static ProtobufFields of(byte[] message) {
      List<Field> fields = new ArrayList<>();
      ByteBuffer rest = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
      while (rest.hasRemaining()) {
        int tag = (int) varint(rest);
        fields.add(field(tag >>> 3, tag & 7, rest));
      }
      return new ProtobufFields(fields);
    }

    private static Field field(int number, int type, ByteBuffer rest) {
      return switch (type) {
        case VARINT -> new Field(number, varint(rest), new byte[0]);
        case FIXED_64 -> new Field(number, rest.getLong(), new byte[0]);
        case FIXED_32 -> new Field(number, rest.getInt(), new byte[0]);
        case BYTES -> {
          byte[] bytes = new byte[(int) varint(rest)];
          rest.get(bytes);
          yield new Field(number, 0, bytes);
        }
        default -> throw new IllegalArgumentException("wire type " + type);
      };
    }

    private static long varint(ByteBuffer rest) {
      long value = 0;
      for (int shift = 0; ; shift += 7) {
        byte next = rest.get();
        value |= (next & 0x7fL) << shift;
        if (next >= 0) {
          return value;
        }
      }
    }

    List<ProtobufFields> messages(int number) {
      return all.stream()
          .filter(it -> it.number() == number)
          .map(it -> ProtobufFields.of(it.bytes()))
          .toList();
    }

    byte[] bytes(int number) {
      return all.stream()
          .filter(it -> it.number() == number)
          .findFirst()
          .map(Field::bytes)
          .orElse(new byte[0]);
    }

    String text(int number) {
      return new String(bytes(number), StandardCharsets.UTF_8);
    }

    long number(int number) {
      return all.stream().filter(it -> it.number() == number).mapToLong(Field::value).sum();
    }
  }
}
