/// Calls a function a moment later, after requests that arrive until then have been handled.
///
/// The delay must call `then` once, on any thread.
public typealias CommitDelay = @Sendable (_ then: @escaping @Sendable () -> Void) -> Void
