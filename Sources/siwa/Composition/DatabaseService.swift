import ServiceLifecycle

/// Closes the database after the services that use it have stopped.
struct DatabaseService: Service {
    let database: any ServiceDatabase

    func run() async throws {
        try? await gracefulShutdown()
        await database.close()
    }
}
