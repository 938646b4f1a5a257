-- Collects much, in threads, with exceptions: GHC's code has tables between all of its parts.
import Control.Concurrent
import Control.Exception
import qualified Data.Map as Map

table :: Int -> Map.Map Int Int
table n = Map.fromListWith (+) [(i `mod` 1009, i) | i <- [1 .. n]]

main :: IO ()
main = do
  print (Map.foldl' (+) 0 (table 200000))
  caught <- try (evaluate (1 `div` Map.findWithDefault 0 2000 (table 10)))
  print (caught :: Either ArithException Int)
  answers <- mapM (const newEmptyMVar) [1 .. 8 :: Int]
  mapM_ (\(n, answer) -> forkIO (putMVar answer $! Map.size (table n))) (zip [500 ..] answers)
  mapM takeMVar answers >>= print . sum
