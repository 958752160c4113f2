package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

final class FeedShareTest {
  private final Queue<Runnable> pool = new ArrayDeque<>();
  private final FeedShare share = new FeedShare(pool::add, 2);
  private final List<Integer> done = new ArrayList<>();

  @Test
  void feeds_get_their_share_of_the_threads_and_no_more() {
    for (int i = 0; i < 5; i++) {
      int number = i;
      share.execute(() -> done.add(number));
    }

    assertThat(pool).hasSize(2);
    pool.remove().run();
    assertThat(done).containsExactly(0, 2, 3, 4);
    pool.remove().run();
    assertThat(done).containsExactly(0, 2, 3, 4, 1);
    share.execute(() -> done.add(5));
    assertThat(pool).hasSize(1);
  }

  @Test
  void work_that_fails_keeps_no_place_and_nobody_else_from_his_turn() {
    for (int i = 0; i < 3; i++) {
      share.execute(
          () -> {
            throw new IllegalStateException("broken");
          });
    }
    share.execute(
        () -> {
          throw new NoClassDefFoundError("broken");
        });
    share.execute(() -> done.add(1));

    assertThat(pool).hasSize(2);
    pool.remove().run();
    pool.remove().run();
    assertThat(done).containsExactly(1);
    share.execute(() -> done.add(2));
    share.execute(() -> done.add(3));
    assertThat(pool).hasSize(2);
  }

  @Test
  void a_pool_that_refuses_keeps_no_place() {
    FeedShare refused =
        new FeedShare(
            task -> {
              throw new RejectedExecutionException();
            },
            1);

    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> refused.execute(() -> done.add(1)))
          .isInstanceOf(RejectedExecutionException.class);
    }
  }
}
