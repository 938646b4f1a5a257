CREATE TABLE numbers(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
INSERT INTO numbers SELECT i, (i * 7919) % 10007, 'text ' || (i * 31 % 997), i / 7.0 FROM n;
CREATE INDEX by_a ON numbers(a);
CREATE INDEX by_b ON numbers(b, c);
SELECT count(*), sum(a), avg(c), min(b), max(b) FROM numbers;
SELECT b, count(*), sum(a) FROM numbers GROUP BY b ORDER BY 3 DESC LIMIT 50;
SELECT x.id, y.id FROM numbers x JOIN numbers y ON x.a = y.a AND x.id < y.id ORDER BY 1, 2 LIMIT 200;
BEGIN;
UPDATE numbers SET c = c * 2 WHERE a BETWEEN 1000 AND 5000;
DELETE FROM numbers WHERE b LIKE '%7';
ROLLBACK;
UPDATE numbers SET b = upper(b) WHERE id % 3 = 0;
SELECT id, row_number() OVER (PARTITION BY a % 10 ORDER BY c DESC) FROM numbers LIMIT 500;
SELECT json_object('id', id, 'b', b) FROM numbers WHERE id % 1000 = 0;
SELECT printf('%.10g', sum(sin(c) * exp(-c / 5000))) FROM numbers;
VACUUM;
PRAGMA integrity_check;
