package lectus.abuse.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Clients that send all kinds of requests to a server, each from a seed of its own. */
final class Fuzz {
  /** Most of them wait for a disk or a pause most of the time. */
  private static final int CLIENTS = 12;

  private static final int SOCKET_SESSION_IN = 60;

  private final int port;
  private final Findings findings = new Findings();
  private final AtomicLong sent = new AtomicLong();

  Fuzz(int port) {
    this.port = port;
  }

  Findings findings() {
    return findings;
  }

  long sent() {
    return sent.get();
  }

  /** Sends that many requests and messages, and ends earlier after too many failures. */
  void run(long seed, long requests) throws InterruptedException {
    long end = sent.get() + requests;
    List<Thread> clients = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      long own = seed + client;
      Thread thread = new Thread(() -> runClient(own, end), "fuzz-" + client);
      thread.setDaemon(true);
      thread.start();
      clients.add(thread);
    }
    for (Thread client : clients) {
      client.join();
    }
  }

  private void runClient(long seed, long end) {
    Dice dice = new Dice(seed);
    Seen seen = new Seen();
    String origin = "seed " + seed;
    try (HttpSession http = new HttpSession(port, dice, findings, origin)) {
      while (sent.get() < end && !findings.areMany()) {
        boolean socket = dice.oneIn(SOCKET_SESSION_IN);
        sent.addAndGet(
            socket ? new SocketSession(port, dice, seen, findings, origin).run() : http.next());
      }
    } catch (Throwable failure) {
      findings.add("the client ended: " + failure, origin);
    }
  }
}
