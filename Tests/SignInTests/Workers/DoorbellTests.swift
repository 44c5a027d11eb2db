import Testing

@testable import SignIn

@Suite struct DoorbellTests {
    let bell = Doorbell()
    let clock = ManualClock()

    @Test func `keeps a ring for who comes later, and two are one`() async {
        bell.ring()
        bell.ring()
        await bell.wait(atMost: nil, on: clock)
        let second = Task { [bell, clock] in await bell.wait(atMost: .seconds(5), on: clock) }
        await clock.sleeper()
        clock.advance(by: .seconds(5))
        await second.value
    }

    @Test func `wakes who waits`() async {
        let waiting = Task { [bell, clock] in await bell.wait(atMost: .seconds(3600), on: clock) }
        await clock.sleeper()
        bell.ring()
        await waiting.value
    }

    @Test func `ends with the task, and leaves the ring to the next`() async {
        let cancelled = Task { [bell, clock] in await bell.wait(atMost: nil, on: clock) }
        cancelled.cancel()
        await cancelled.value
        bell.ring()
        await bell.wait(atMost: nil, on: clock)
    }
}
