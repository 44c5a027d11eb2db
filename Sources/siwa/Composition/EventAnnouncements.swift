import ServiceLifecycle
import SignIn

/// Tells readers of the event feed what other replicas have committed: whoever waits at one of them hears of all.
struct EventAnnouncements: Service {
    let database: any ServiceDatabase
    let feed: EventFeed

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await database.announcements { [feed] in feed.advance(to: $0) }
        }
        // Its end would end the whole service.
        try? await gracefulShutdown()
    }
}
