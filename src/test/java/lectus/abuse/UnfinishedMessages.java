package lectus.abuse;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import lectus.http.testing.Frames;

/** Sockets with an unfinished message each. */
record UnfinishedMessages(int clients, int bytes) implements Attack {

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    String upgrade = Wire.upgrade("/_changes");
    byte[] message = new byte[bytes];
    Arrays.fill(message, (byte) ' ');
    ByteBuffer unfinished = ByteBuffer.wrap(Frames.masked(Frames.TEXT, false, message));
    try (Crowd crowd = new Crowd(clients, () -> Line.to(target, 0).say(upgrade).say(unfinished))) {
      while (!deadline.isOver()) {
        crowd.turn(1_000);
        deadline.pause(50);
      }
    }
  }
}
