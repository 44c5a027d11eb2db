import PostgresCluster
import Testing
