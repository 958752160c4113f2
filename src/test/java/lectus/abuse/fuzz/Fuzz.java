package lectus.abuse.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

  /** Sends a given number of requests to a running server, and reports the outcome. */
  static final class FuzzMain {
    private FuzzMain() {}

    /**
     * @param arguments the port on this machine, the seed, the number of requests
     */
    public static void main(String[] arguments) throws InterruptedException {
      Fuzz fuzz = new Fuzz(Integer.parseInt(arguments[0]));
      fuzz.run(Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
      System.out.println(
          fuzz.sent() + " requests and messages, answers: " + fuzz.findings().statuses());
      fuzz.findings().all().forEach(System.out::println);
      System.exit(fuzz.findings().all().isEmpty() ? 0 : 1);
    }
  }

  /** Failures, one example of each kind, with how to reproduce it. */
  static final class Findings {
    private static final int MAX_KINDS = 40;

    private final Map<String, String> byKind = new TreeMap<>();
    private final Map<Integer, Integer> statuses = new TreeMap<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private int cut;

    /**
     * @param kind what many have in common; they are reported once
     */
    synchronized void add(String kind, String example) {
      counts.merge(kind, 1, Integer::sum);
      byKind.putIfAbsent(kind, example);
    }

    /** Counts an answer, right or wrong. */
    synchronized void count(int status) {
      statuses.merge(status, 1, Integer::sum);
    }

    /** Counts an answer that was broken off. */
    synchronized void countCut() {
      cut++;
    }

    synchronized int cut() {
      return cut;
    }

    /** Returns how often each status came, which shows what the requests reached. */
    synchronized Map<Integer, Integer> statuses() {
      return new TreeMap<>(statuses);
    }

    synchronized boolean areMany() {
      return byKind.size() >= MAX_KINDS;
    }

    synchronized List<String> all() {
      return byKind.entrySet().stream()
          .map(
              each ->
                  each.getKey()
                      + " ("
                      + counts.get(each.getKey())
                      + " times), such as: "
                      + each.getValue())
          .toList();
    }
  }

  /** Revisions and sequences seen in answers, for later requests. */
  static final class Seen {
    private static final int MOST = 64;
    private static final Pattern REVISION = Pattern.compile("\"(\\d{1,6}-[0-9a-f]{32})\"");
    private static final Pattern SEQUENCE =
        Pattern.compile("\"(?:seq|last_seq|update_seq|at)\":\"([^\"\\\\]{1,80})\"");

    private final List<String> revisions = new ArrayList<>(List.of("1-" + "a".repeat(32)));
    private final List<String> sequences = new ArrayList<>(List.of("0"));
    private int turn;

    /** Notes the first few of a text. */
    void note(String text) {
      String begin = text.length() > 2_000 ? text.substring(0, 2_000) : text;
      note(REVISION.matcher(begin), revisions);
      note(SEQUENCE.matcher(begin), sequences);
    }

    private void note(Matcher found, List<String> into) {
      for (int i = 0; i < 3 && found.find(); i++) {
        if (into.size() < MOST) {
          into.add(found.group(1));
        } else {
          into.set(turn++ % MOST, found.group(1));
        }
      }
    }

    String revision(Dice dice) {
      return dice.of(revisions);
    }

    String sequence(Dice dice) {
      return dice.of(sequences);
    }
  }
}
