import Console

/// Parts of the console of `siwa dev` beside the service: the fakes in the same process.
struct DevelopmentConsole: Sendable {
    let world: DevelopmentFakes
    let startPages: StartPages
}
