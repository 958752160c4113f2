package lectus.http.exchange;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The fields of one message of Protocol Buffers, in their order. */
record ProtobufFields(List<Field> all) {
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
