import ServiceLifecycle

/// Closes the database when everybody who uses it has stopped.
struct DatabaseService: Service {
    let database: any ServiceDatabase

    func run() async throws {
        try? await gracefulShutdown()
        await database.close()
    }
}
