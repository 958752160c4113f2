package lectus.document.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import lectus.document.ReadAhead;
import org.junit.jupiter.api.Test;

/** How many documents one transaction looks at, and in which order. */
final class DocumentsAheadTest {
  private static final int MEGABYTE = 1_000_000;

  private static final Duration MAX_TIME = DocumentsAhead.MAX_TIME;

  private long nanos;

  /** A document of so many bytes, of which the first read shows some. */
  private record Document(int number, long firstBytes, long bytes, long computed, long took) {
    static Document small(int number) {
      return new Document(number, 10, 10, 10, 0);
    }
  }

  private final class Counting implements DocumentsAhead.Work<Document, Document, Document> {
    private int mostSteps = Integer.MAX_VALUE;
    private final ConcurrentLinkedQueue<String> steps = new ConcurrentLinkedQueue<>();
    private long bytes;

    @Override
    public Document start(Document document) {
      assertThat(steps.size()).isLessThan(mostSteps);
      add(document.firstBytes);
      steps.add("start");
      return document;
    }

    @Override
    public void goOn(Document started) {
      steps.add("goOn");
    }

    @Override
    public Document finish(Document started) {
      add(started.bytes - started.firstBytes);
      steps.add("finish");
      return started;
    }

    private synchronized void add(long some) {
      bytes += some;
    }

    @Override
    public synchronized long bytesRead() {
      return bytes;
    }

    @Override
    public long sizeOf(Document computed) {
      nanos += computed.took;
      return computed.computed;
    }
  }

  private int done(List<Document> documents) {
    return done(new Counting(), documents, DocumentsAhead.learning());
  }

  private int done(Counting work, List<Document> documents, ReadAhead ahead) {
    List<Document> done =
        new DocumentsAhead<>(ForkJoinPool.commonPool(), work, ahead, () -> nanos).of(documents);
    assertThat(done).isEqualTo(documents.subList(0, done.size()));
    return done.size();
  }

  private static List<Document> some(int count, Document like) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Document(i, like.firstBytes, like.bytes, like.computed, like.took))
        .toList();
  }

  @Test
  void all_reads_of_small_documents_begin_before_one_is_waited_for() {
    ReadAhead ahead = DocumentsAhead.learning();
    done(new Counting(), some(10, Document.small(0)), ahead);

    Counting work = new Counting();
    assertThat(done(work, some(4_000, Document.small(0)), ahead)).isEqualTo(4_000);
    List<String> steps = new ArrayList<>(work.steps);
    assertThat(steps.lastIndexOf("start")).isLessThan(steps.indexOf("goOn"));
    assertThat(steps.lastIndexOf("goOn")).isLessThan(steps.indexOf("finish"));
  }

  @Test
  void few_large_documents_are_read_ahead() {
    ReadAhead ahead = DocumentsAhead.learning();
    done(new Counting(), some(10, new Document(0, 10, 100_000, 0, 0)), ahead);
    assertThat(ahead.size()).isEqualTo(20);

    done(new Counting(), some(10, new Document(0, 10, 50_000, 50_000, 0)), ahead);
    assertThat(ahead.size()).isEqualTo(20);
  }

  @Test
  void none_is_begun_behind_the_bytes_of_a_page() {
    Document large = new Document(0, 0, MEGABYTE, 0, 0);
    int most = (int) (DocumentsAhead.MAX_BYTES / MEGABYTE);

    assertThat(done(some(most, large))).isEqualTo(most);
    assertThat(done(some(most + 1, large))).isEqualTo(most);
    Document larger = new Document(0, 0, 20 * MEGABYTE, 0, 0);
    assertThat(done(some(2, larger))).isEqualTo(1);
  }

  @Test
  void first_reads_are_not_begun_behind_half_the_bytes() {
    Document large = new Document(0, MEGABYTE, MEGABYTE, 0, 0);
    int most = (int) (DocumentsAhead.MAX_BYTES / MEGABYTE / 2);

    assertThat(done(some(most, large))).isEqualTo(most);
    Counting work = new Counting();
    assertThat(done(work, some(100, large), DocumentsAhead.learning())).isEqualTo(most);
    assertThat(work.steps.stream().filter("start"::equals)).hasSize(most);
  }

  @Test
  void what_is_computed_fits_into_a_transaction() {
    Document wide = new Document(0, 0, 0, MEGABYTE, 0);
    int most = (int) (DocumentsAhead.MAX_COMPUTED_BYTES / MEGABYTE);

    assertThat(done(some(most, wide))).isEqualTo(most);
    assertThat(done(some(most + 1, wide))).isEqualTo(most);
    Document wider = new Document(0, 0, 0, 20 * MEGABYTE, 0);
    assertThat(done(some(2, wider))).isEqualTo(1);
  }

  @Test
  void few_helpers_are_asked_at_a_time() {
    List<Integer> askedAt = new ArrayList<>();
    Counting work = new Counting();
    ReadAhead all = new ReadAhead(1_000, 1_000, MEGABYTE);
    assertThat(
            new DocumentsAhead<>(helper -> askedAt.add(work.steps.size()), work, all, () -> nanos)
                .of(some(1_000, Document.small(0))))
        .hasSize(1_000);

    int first = DocumentsAhead.MAX_PARTS - 1;
    assertThat(askedAt.subList(0, first + 1)).containsExactly(0, 0, 0, DocumentsAhead.PART);
  }

  @Test
  void helpers_that_come_late_begin_none_after_a_failure() {
    List<Runnable> late = new ArrayList<>();
    Counting work = new Counting();
    work.mostSteps = 1;
    ReadAhead all = new ReadAhead(1_000, 1_000, MEGABYTE);
    assertThatThrownBy(
            () ->
                new DocumentsAhead<>(late::add, work, all, () -> nanos)
                    .of(some(1_000, Document.small(0))))
        .isInstanceOf(AssertionError.class);

    work.mostSteps = Integer.MAX_VALUE;
    assertThat(late).isNotEmpty();
    late.forEach(Runnable::run);
    assertThat(work.steps).containsExactly("start");
  }

  @Test
  void none_is_begun_when_the_time_is_up() {
    ReadAhead oneByOne = new ReadAhead(1, 1, 1);
    long tenth = MAX_TIME.toNanos() / 10;
    Document slow = new Document(0, 0, 0, 0, tenth);

    assertThat(done(new Counting(), some(5, slow), oneByOne)).isEqualTo(5);
    assertThat(done(new Counting(), some(6, slow), oneByOne)).isEqualTo(5);
    Document slower = new Document(0, 0, 0, 0, 20 * tenth);
    assertThat(done(new Counting(), some(2, slower), oneByOne)).isEqualTo(1);
  }
}
