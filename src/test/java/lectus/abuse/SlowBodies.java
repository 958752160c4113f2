package lectus.abuse;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Bodies that arrive except for their end, of which a byte arrives now and then. */
record SlowBodies(int clients, int bytes) implements Attack {

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    String head = Wire.head("POST", "/large/_bulk_docs", bytes);
    byte[] text = ("{\"docs\":[" + " ".repeat(bytes - 1_000)).getBytes(StandardCharsets.US_ASCII);
    ByteBuffer most = ByteBuffer.wrap(text);
    try (Crowd crowd = new Crowd(clients, () -> Line.to(target, 0).say(head).say(most))) {
      while (!deadline.isOver()) {
        crowd.turn(1_000);
        crowd.forEach(
            line -> {
              if (dice.nextInt(50) == 0) {
                line.say(" ");
              }
            });
        deadline.pause(100);
      }
    }
  }
}
