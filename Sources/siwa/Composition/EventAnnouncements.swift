import ServiceLifecycle
import SignIn

/// Tells the event feed what other replicas have committed, so that clients that wait at this replica get all
/// events.
struct EventAnnouncements: Service {
    let database: any ServiceDatabase
    let feed: EventFeed

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await database.announcements { [feed] in feed.advance(to: $0) }
        }
        // Returning early would stop the whole service.
        try? await gracefulShutdown()
    }
}
